// The layers of the house (README, "The map of the house"): app → http → jobs → features → runs → events, llm, workflow → platform → shared.
// Every rule is an error. Tests may look anywhere; nobody may look at a test.
const TEST = "\\.(test|spec)\\.tsx?$|^server/testing/|^e2e/";

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
/** What loads anywhere. */
const PURE = "^server/(workflow|shared)/|^server/(?!llm/).*schema\\.ts$|^server/llm/kinds\\.ts$";
/** Rooms of the server, the top first. */
const ROOMS = ["boot", "http", "jobs", "features", "runs", "events", "llm", "platform"];
const above = (room) => `^(app|components)/|^server/(${ROOMS.slice(0, ROOMS.indexOf(room)).join("|")})/|^server/main\\.ts$`;

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
      "loads-anywhere",
      { path: PURE },
      { path: OURS, pathNot: PURE },
      "The language of workflows, every schema and the provider table load in a browser, in REST, in the engine and in tests.",
    ),
    forbid("kinds-import-nothing", { path: "^server/llm/kinds\\.ts$" }, { path: "." }),
    forbid(
      "nodes-import-only-zod",
      { path: "^server/workflow/nodes/" },
      { dependencyTypes: ["npm", "npm-dev", "core"], pathNot: "(^|/)node_modules/zod/" },
      "Side effects reach a node through its context, never through an import.",
    ),
    forbid(
      "database-has-few-doors",
      { pathNot: ["^server/(features|runs|events|platform|boot|jobs)/", "^server/(main|http/health)\\.ts$", "^prisma/"] },
      { path: "^(server/platform/db|prisma)/", ...atRunTime },
      "Features and the life of a run touch the database; boot opens and closes it.",
    ),
    forbid(
      "connections-have-one-maker",
      { path: "^(server|app|components)/", pathNot: ["^server/platform/db/connections\\.ts$"] },
      { path: "(^|/)node_modules/pg/", ...atRunTime },
      "A connection to PostgreSQL without a listener for its errors ends the process when it breaks.",
    ),
    forbid("platform-is-below-all", { path: "^server/platform/" }, { path: above("platform") }),
    forbid("llm-knows-no-feature", { path: "^server/llm/" }, { path: above("llm"), pathNot: PURE }),
    forbid("events-know-no-receiver", { path: "^server/events/" }, { path: above("events"), pathNot: PURE }),
    forbid("runs-know-no-feature", { path: "^server/runs/" }, { path: above("runs") }),
    forbid("features-know-no-door", { path: "^server/features/" }, { path: above("features") }),
    forbid("jobs-below-entry-points", { path: "^server/jobs/" }, { path: above("jobs") }),
    // A folder and those in it are one room to rooms.cjs.
    forbid(
      "platform-pieces-need-none-of-its-folders",
      { path: "^server/platform/[^/]+$" },
      { path: "^server/platform/[^/]+/", ...atRunTime },
    ),
    forbid("http-folders-need-none-of-its-pieces", { path: "^server/http/[^/]+/" }, { path: "^server/http/[^/]+$", ...atRunTime }),
    forbid("doors-below-boot", { path: "^server/http/" }, { path: above("http") }),
    forbid("server-knows-no-page", { path: "^server/" }, { path: "^(app|components)/" }),
    forbid(
      "pages-have-no-server-of-their-own",
      { path: "^app/" },
      { path: "^(server|prisma)/", pathNot: [PURE, "^server/llm/prices\\.ts$"], ...atRunTime },
      "What app/ imports is bundled, and would be there twice. app/server.ts loads the server of this process.",
    ),
    forbid(
      "components-load-in-a-browser",
      { path: "^components/" },
      { path: "^(app|server|prisma)/", pathNot: [PURE, "^server/llm/prices\\.ts$"], ...atRunTime },
    ),
    forbid(
      "markdown-is-parsed-outside-the-server",
      { path: "^(server|app|components)/", pathNot: ["^components/ui/markdown\\.tsx$", "^server/platform/mail/markdown-process\\.ts$"] },
      { path: "(^|/)node_modules/(react-markdown|remark-.+|mdast-util-.+|micromark.*|unified)/", ...atRunTime },
      "A Markdown parser may take seconds for a few thousand characters.",
    ),
    forbid(
      "user-markdown-is-bounded",
      { pathNot: ["^components/api-reference/", "^components/ui/loaded-markdown\\.tsx$"] },
      { path: "^components/ui/markdown\\.tsx$", ...atRunTime },
      "loaded-markdown.tsx parses in the browser only, and within bounds.",
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
