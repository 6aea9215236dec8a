"""`sysconfig` reads the data of the build, whose name says "wasi"."""


def apply(module):
    """Name the build's data whatever `sys.platform` says."""
    module._get_sysconfigdata_name = lambda *args, **more: "_sysconfigdata__wasi_wasm32-wasi"
