// The layers of the house (README, "The map of the house"): app → server/api → server/services → server/engine → database.
// Every rule is an error. Tests may look anywhere; nobody may look at a test.
const TEST = "\\.(test|spec)\\.tsx?$|^server/testing/|^server/inngest/local/testing/|^e2e/";

const forbid = (name, from, to, comment) => ({
  name,
  comment,
  severity: "error",
  from: { ...from, pathNot: [TEST, ...(from.pathNot ?? [])] },
  to,
});
/** Imports that exist at run time: a type may come from anywhere. */
const atRunTime = { dependencyTypesNot: ["type-only"] };
const OURS = "^(app|components|prisma|server)/";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-runtime-cycles",
      comment: "Type-only imports may close a loop; imports at run time may not.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    forbid(
      "schemas-are-leaves",
      { path: "^server/schemas/" },
      { path: OURS, pathNot: ["^server/schemas/", "^server/providers/kinds\\.ts$"] },
      "Schemas load in the browser, in REST, in the engine and in tests.",
    ),
    forbid("kinds-import-nothing", { path: "^server/providers/kinds\\.ts$" }, { path: "." }, "The provider table loads anywhere."),
    forbid(
      "nodes-are-isomorphic",
      {
        path: "^server/engine/(nodes/|define-node|disabled|graph|merge-edges|pins|plan|problems|rename|expressions|json-text|output-size|params|plain-handles|dictionary)",
      },
      {
        path: OURS,
        pathNot: [
          "^server/schemas/",
          "^server/engine/(nodes/|define-node|disabled|graph|merge-edges|pins|plan|problems|rename|expressions|json-text|output-size|params|plain-handles|dictionary)",
        ],
      },
      "The language of workflows loads in a browser; side effects reach a node through its context, never through an import.",
    ),
    forbid(
      "nodes-import-only-zod",
      { path: "^server/engine/nodes/" },
      { dependencyTypes: ["npm", "npm-dev", "core"], pathNot: "(^|/)node_modules/zod/" },
    ),
    forbid(
      "database-has-few-doors",
      {
        pathNot: [
          "^server/(services|auth|db|boot)/",
          "^server/(main|api/health)\\.ts$",
          "^server/engine/run-store",
          "^server/inngest/local/",
          "^prisma/",
        ],
      },
      { path: "^(server/db|prisma)/", ...atRunTime },
      "Only services, sign-in, the run store and the embedded executor touch the database; boot opens and closes it.",
    ),
    forbid(
      "engine-below-services",
      { path: "^server/(engine|children|providers|tools|net)/" },
      { path: "^(app|components)/|^server/(api|services|inngest|auth|boot|web)/" },
    ),
    forbid(
      "services-below-entry-points",
      { path: "^server/services/" },
      { path: "^(app|components)/|^server/(api|boot|web|inngest/(functions|local))/" },
      "Services send events; functions call services; never both ways.",
    ),
    forbid("functions-below-entry-points", { path: "^server/inngest/" }, { path: "^(app|components)/|^server/(api|boot|web)/" }),
    forbid("sign-in-below-api", { path: "^server/auth/" }, { path: "^(app|components)/|^server/(api|boot|web|inngest|engine)/" }),
    forbid("routers-stay-thin", { path: "^server/api/" }, { path: "^(app|components)/|^server/(boot|web|inngest/(functions|local))/" }),
    forbid("server-knows-no-page", { path: "^server/" }, { path: "^(app|components)/" }),
    forbid(
      "pages-enter-through-the-api",
      { path: "^app/" },
      {
        path: "^(server|prisma)/",
        pathNot: "^server/(api|auth|schemas|engine/nodes)/|^server/(inngest/(client|functions)|settings|providers/(kinds|prices))",
        ...atRunTime,
      },
    ),
    forbid(
      "components-load-in-a-browser",
      { path: "^components/" },
      {
        path: "^(app|server|prisma)/",
        pathNot: [
          "^server/(schemas|engine/nodes)/",
          "^server/engine/(define-node|dictionary|disabled|graph|graph-diff|graph-merge|merge-edges|pins|plain-handles|params|plan|problems|rename|stale|expressions)\\.ts$",
          "^server/providers/(kinds|prices)\\.ts$",
        ],
        ...atRunTime,
      },
    ),
    forbid("nobody-imports-a-test", {}, { path: TEST }),
    {
      name: "nothing-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // The examples of the guide are programs of readers: openapi-clients.test.ts compiles them against generated types.
    exclude: { path: ["prisma/generated/.+/", "^e2e/artifacts", "^app/docs/examples/.+\\.ts$"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "require", "node", "default", "types"] },
  },
};
