import { join } from "node:path";
import { buildWeb, isBuilt } from "#server/boot/web-build.ts";
import { takeSettings } from "#server/platform/settings.ts";

// `npm run build`: builds the web app unless the build there is of these very sources.
const root = join(import.meta.dirname, "../..");
if (isBuilt(root)) process.stdout.write("The web app is already built from these sources.\n");
else {
  takeSettings(false);
  await buildWeb(root);
}
