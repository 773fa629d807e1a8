import type { ExpressionOption } from "#components/workflow-editor/fields/expression-options.ts";
import { pathStep } from "#components/workflow-editor/fields/json-paths.ts";
import { nearestName, parseTemplate, possibleReadings, type Reference, slugOf } from "#server/workflow/expressions.ts";

/** A piece of a text with expressions, for colouring; together they are the text. */
export interface MarkedPiece {
  kind: "text" | "reference" | "fault";
  text: string;
  /** Of a fault: what it should probably be, braces and all. */
  fix: string | null;
}

type Known = Pick<ExpressionOption, "name" | "field">;

/** What a reference that cannot be read was probably meant to be, or null. */
export function fixOf({ source, head, path }: Reference, options: readonly Known[]): string | null {
  const heads = [...new Set(options.map(({ name }) => name))];
  const isHead = heads.find((name) => name === head) ?? heads.find((name) => slugOf(name) === slugOf(head));
  const name = isHead ?? nearestName(heads, head);
  if (name === undefined) return null;
  const fields = [...new Set(options.filter((option) => option.name === name).map(({ field }) => field))];
  const [wanted = "output", ...rest] = path.map(String);
  const near = fields.includes(wanted) ? wanted : nearestName(fields, wanted);
  const field = near ?? (isHead === undefined || path.length === 0 ? fields.find((one) => one === "output") : undefined);
  if (field === undefined) return null;
  const steps = path.slice(path.length - rest.length).map(pathStep);
  const fix = `{{${name}.${field}${rest.length ? steps.join("") : ""}}}`;
  return fix === source ? null : fix;
}

/**
 * A text in pieces, its expressions apart.
 * @param problems sentences about the field; one about an expression begins with it
 * @param options what can be read here; asked only when something cannot
 */
export function markedPieces(text: string, problems: readonly string[], options: () => readonly Known[]): MarkedPiece[] {
  return parseTemplate(text).map((part) => {
    if ("text" in part) return { kind: "text", text: part.text, fix: null };
    const { reference } = part;
    const { source } = reference;
    if (!problems.some((problem) => problem.startsWith(source))) return { kind: "reference", text: source, fix: null };
    const known = options();
    const readings = [reference, ...possibleReadings(reference)].reverse();
    const fixes = readings.flatMap((reading) => fixOf(reading, known) ?? []);
    return { kind: "fault", text: source, fix: fixes[0] ?? null };
  });
}
