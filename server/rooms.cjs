// Folders are rooms: none of them needs, at run time, one that needs it. (dependency-cruiser.cjs says which are above which; it
// counts types too, which may come from anywhere.)
const { options } = require("./dependency-cruiser.cjs");

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [{ name: "no-circle-of-rooms", severity: "error", scope: "folder", from: {}, to: { circular: true } }],
  options: {
    ...options,
    exclude: { path: [...options.exclude.path, "\\.test\\.tsx?$", "^server/testing/", "^(app|e2e|prisma)/", "(^|/)node_modules/"] },
    tsPreCompilationDeps: false,
  },
};
