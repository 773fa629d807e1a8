import { pino } from "pino";
import { masked } from "#server/platform/mask-scope.ts";
import { settings } from "#server/platform/settings.ts";

// Paths whose values never reach a log line, whoever logs the object.
const SECRET_PATHS = ["authorization", "cookie", "api_key", "password", "secret", "token", "key", "value"];

/** The structured logger: object first, message second. JSON lines on standard error; standard output stays for people. */
export const log = pino(
  {
    level: settings().LOG_LEVEL,
    redact: { paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`]), censor: "••••" },
    // Nor does a secret that the work at hand has read, wherever in the line it stands.
    hooks: { streamWrite: masked },
  },
  process.stderr,
);

/** A path as it may stand in a log: without the tokens in it that let in whoever knows them, which are longer than any id. */
export const loggedPath = (path: string): string => path.replace(/[\w%-]{40,}/g, "••••");
