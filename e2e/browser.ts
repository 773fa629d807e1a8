import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium, type LaunchOptions } from "@playwright/test";

// The browser of the tests: Playwright's own Chromium when it is installed (`npx playwright install chromium`), else the
// one of the npm package @sparticuz/chromium, which brings its libraries and fonts and so starts on a bare machine.

const cache = join(import.meta.dirname, "../node_modules/.cache");
const unpacked = join(cache, "treadle-chromium");

/** Sets variables while `use` starts, which must read them before its first await. */
function withVariables<Result>(values: Record<string, string>, use: () => Result): Result {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  try {
    return use();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Unpacks the npm package once, in a folder that appears only when it is whole. */
async function unpack(): Promise<void> {
  if (existsSync(unpacked)) return;
  const { default: packaged } = await import("@sparticuz/chromium");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "unpacking-"));
  // The package unpacks into TMPDIR, and its system libraries only where it believes to be in a bare cloud function.
  await withVariables({ TMPDIR: folder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" }, () => packaged.executablePath());
  try {
    renameSync(folder, unpacked);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    if (!existsSync(unpacked)) throw error; // otherwise another process was first
  }
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/**
 * Tells the browser where its fonts are: the package's own file names folders of a cloud function only, and a browser without a
 * font draws text that takes no room, which counts as hidden.
 * @returns path of the file
 */
function fontConfig(): string {
  const file = join(unpacked, "treadle-fonts.conf");
  const wanted = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${escaped(join(unpacked, "fonts"))}</dir>
  <cachedir>${escaped(join(unpacked, "fonts-cache"))}</cachedir>
</fontconfig>
`;
  if (existsSync(file) && readFileSync(file, "utf8") === wanted) return file;
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, wanted);
  renameSync(whole, file);
  return file;
}

/** How to launch the browser on this machine. */
export async function browserOptions(): Promise<LaunchOptions> {
  if (existsSync(chromium.executablePath())) return {};
  await unpack();
  const libraries = [join(unpacked, "al2023/lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":");
  return {
    executablePath: join(unpacked, "chromium"),
    // Chromium refuses to run as root inside its sandbox. Without a graphics card it draws by itself: that is several times
    // faster than a graphics card that the processor plays.
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"],
    env: { ...(process.env as Record<string, string>), LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fontConfig() },
  };
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch(await browserOptions());
}
