import { pino } from "pino";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { settings } from "#server/platform/settings.ts";

// Paths whose values never reach a log line, whoever logs the object.
const SECRET_PATHS = ["authorization", "cookie", "api_key", "password", "secret", "token", "key", "value"];

/** Time for which repeated faults of the database are counted in place of being logged, in ms. */
const COUNT_MS = 60_000;
const WARN = 40;
let counting: NodeJS.Timeout | undefined;
let counted = 0;

/** Counts a fault of the database that was logged in the last minute already, in any part of the process. Returns true when it is not to be logged. */
function isCounted(level: number, err: unknown): boolean {
  if (level < WARN || !isDatabaseAway(err)) return false;
  if (counting) {
    counted += 1;
    return true;
  }
  counting = setTimeout(() => {
    counting = undefined;
    const count = counted;
    counted = 0;
    if (count > 0) log.warn({ err, count }, "faults of the database in the last minute");
  }, COUNT_MS).unref();
  return false;
}

/** The structured logger: object first, message second. JSON lines on standard error; standard output stays for people. */
export const log = pino(
  {
    level: settings().LOG_LEVEL,
    redact: { paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`]), censor: "••••" },
    // Nor does a secret that the work at hand has read, wherever in the line it stands.
    hooks: {
      streamWrite: masked,
      logMethod(args, method, level) {
        if (!isCounted(level, Reflect.get(Object(args[0]), "err"))) method.apply(this, args);
      },
    },
  },
  process.stderr,
);

/** A path as it may stand in a log: without the tokens in it that let in whoever knows them, which are longer than any id. */
export const loggedPath = (path: string): string => path.replace(/[\w%-]{40,}/g, "••••");
