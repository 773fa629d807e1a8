import { pino } from "pino";
import { settings } from "#server/settings.ts";

// Paths whose values never reach a log line, whoever logs the object.
const SECRET_PATHS = ["authorization", "cookie", "api_key", "password", "secret", "token", "key", "value"];

/** The structured logger: object first, message second. JSON lines on standard error; standard output stays for people. */
export const log = pino(
  {
    level: settings().LOG_LEVEL,
    redact: { paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`]), censor: "••••" },
  },
  process.stderr,
);
