// node's path for POSIX.

makers.path = () => {
  const normalizeParts = (path, absolute) => {
    const done = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== "..") done.push(part);
      else if (done.length && done.at(-1) !== "..") done.pop();
      else if (!absolute) done.push("..");
    }
    return done.join("/");
  };
  const path = {
    sep: "/",
    delimiter: ":",
    normalize(name) {
      checkType(name, "path", "string");
      if (name === "") return ".";
      const absolute = name.startsWith("/");
      let done = normalizeParts(name, absolute);
      if (done === "" && !absolute) done = ".";
      if (done !== "" && name.endsWith("/")) done += "/";
      return absolute ? `/${done}` : done;
    },
    isAbsolute(name) {
      checkType(name, "path", "string");
      return name.startsWith("/");
    },
    join(...names) {
      for (const name of names) checkType(name, "path", "string");
      const joined = names.filter((name) => name !== "").join("/");
      return joined === "" ? "." : path.normalize(joined);
    },
    resolve(...names) {
      let done = "";
      for (let at = names.length - 1; at >= 0 && !done.startsWith("/"); at--) {
        checkType(names[at], `paths[${at}]`, "string");
        if (names[at] !== "") done = done === "" ? names[at] : `${names[at]}/${done}`;
      }
      if (!done.startsWith("/")) done = `${process.cwd()}/${done}`;
      return `/${normalizeParts(done, true)}`;
    },
    relative(from, to) {
      const left = path.resolve(from).split("/").filter(Boolean);
      const right = path.resolve(to).split("/").filter(Boolean);
      let same = 0;
      while (same < left.length && same < right.length && left[same] === right[same]) same++;
      return [...left.slice(same).map(() => ".."), ...right.slice(same)].join("/");
    },
    dirname(name) {
      checkType(name, "path", "string");
      if (name === "") return ".";
      const bare = name.replace(/(?<=[^/])\/+$/, "");
      const at = bare.lastIndexOf("/");
      if (at <= 0 || /^\/+$/.test(bare)) return name.startsWith("/") ? "/" : ".";
      return at === 1 && name.startsWith("/") ? "//" : bare.slice(0, at);
    },
    basename(name, suffix) {
      checkType(name, "path", "string");
      const bare = name.endsWith("/") ? name.replace(/\/+$/, "") : name;
      const base = bare.slice(bare.lastIndexOf("/") + 1);
      return suffix && base !== suffix && base.endsWith(suffix)
        ? base.slice(0, -suffix.length) : base;
    },
    extname(name) {
      const base = path.basename(name);
      const at = base.lastIndexOf(".");
      return at <= 0 || base === ".." ? "" : base.slice(at);
    },
    parse(name) {
      checkType(name, "path", "string");
      const base = path.basename(name);
      const ext = path.extname(name);
      const root = name.startsWith("/") ? "/" : "";
      let dir = path.dirname(name);
      if (dir === "." && !name.startsWith(".")) dir = "";
      if (dir === "." && !name.includes("/")) dir = "";
      return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
    },
    format(parts) {
      const dir = parts.dir ?? parts.root ?? "";
      const ext = parts.ext && !parts.ext.startsWith(".") ? `.${parts.ext}` : parts.ext ?? "";
      const base = parts.base ?? `${parts.name ?? ""}${ext}`;
      if (!dir) return base;
      return dir === parts.root ? `${dir}${base}` : `${dir}/${base}`;
    },
    toNamespacedPath: (name) => name,
  };
  path.posix = path;
  path.win32 = windowsPath(path);
  return path;
};
/** path.win32, for the names that scripts only look at: drives, both slashes, no resolving. */
function windowsPath(path) {
  const parted = (name) => {
    const root = /^([a-z]:)?[\\/]*/i.exec(name)[0];
    return [root.replaceAll("/", "\\"), name.slice(root.length).replaceAll("\\", "/")];
  };
  const back = (name) => name.replaceAll("/", "\\");
  const win32 = {
    sep: "\\",
    delimiter: ";",
    posix: path,
    isAbsolute: (name) => /^([a-z]:)?[\\/]/i.test(name),
    basename: (name, suffix) => path.basename(parted(name)[1], suffix),
    extname: (name) => path.extname(parted(name)[1]),
    dirname(name) {
      const [root, rest] = parted(name);
      const folder = path.dirname(rest);
      return folder === "." ? root || "." : root + back(folder);
    },
    normalize(name) {
      const [root, rest] = parted(name);
      const done = path.normalize(rest);
      return root === "" ? back(done) : root + (done === "." ? "" : back(done));
    },
    join: (...names) => win32.normalize(names.filter(Boolean).join("\\") || "."),
    parse(name) {
      const [root, rest] = parted(name);
      return { ...path.parse(rest), root, dir: rest.includes("/") ? win32.dirname(name) : root };
    },
    toNamespacedPath: (name) => name,
  };
  win32.win32 = win32;
  return win32;
}
makers["path/win32"] = () => builtin("path").win32;
makers["path/posix"] = () => builtin("path");
