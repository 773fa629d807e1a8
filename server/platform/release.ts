import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Version of this release, from package.json. */
export const RELEASE = String(JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")).version);
