import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { z } from "zod";

/**
 * What the product brings along as files that anybody can write: each file of a folder, read by `read`.
 * @param folder its path
 * @param ending of the files that count, such as `.yaml`
 * @param read makes a value of a file's text and its name without the ending; throws what is wrong with it
 * @throws Error that names the file which cannot be used, and says why
 */
export function readDataFiles<Value>(folder: string, ending: string, read: (text: string, name: string) => Value): Value[] {
  const names = readdirSync(folder).filter((file) => extname(file) === ending);
  return names.sort().map((file) => {
    const path = join(folder, file);
    try {
      return read(readFileSync(path, "utf8"), file.slice(0, -ending.length));
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new Error(`The file ${path} cannot be used: ${reason}`, { cause: error });
    }
  });
}
