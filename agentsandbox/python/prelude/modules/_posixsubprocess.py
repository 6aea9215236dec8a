"""Start a child of `subprocess`: a command of the sandbox, which runs beside Python."""

from _agentsandbox import processes

SAME_FOR_ALL = (
    "subprocess: {} is not available in this sandbox's Python: a child gets stdin, stdout and "
    "stderr only, and does not begin as a copy of this process"
)


def fork_exec(
    args, executable_list, close_fds, pass_fds, cwd, env, p2cread, p2cwrite, c2pread, c2pwrite,
    errread, errwrite, errpipe_read, errpipe_write, restore_signals, start_new_session,
    process_group, gid, extra_groups, uid, umask, preexec_fn, *allow_vfork
):  # fmt: skip
    """Start the first program of `executable_list` that there is; return its process id."""
    import os

    if preexec_fn not in (None, os.setsid, getattr(os, "setpgrp", None)):
        raise NotImplementedError(SAME_FOR_ALL.format("preexec_fn"))
    if len(pass_fds) > (errpipe_write in pass_fds):
        raise NotImplementedError(SAME_FOR_ALL.format("pass_fds"))
    processes.own_id(-1 if uid is None else uid, os.getuid())
    processes.own_id(-1 if gid is None else gid, os.getgid())
    program = executable_list[-1]
    if len(executable_list) > 1:
        program = os.path.basename(program)
    if env is not None:
        env = dict(pair.split(b"=", 1) for pair in env)
    streams = [
        place if place >= 0 else own for own, place in enumerate((p2cread, c2pwrite, errwrite))
    ]
    words = [program, *list(args)[1:]]
    return processes.begin(words, env=env, cwd=cwd, streams=streams, umask=umask)
