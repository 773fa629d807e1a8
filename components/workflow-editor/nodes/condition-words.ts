import type { PlainPart } from "#components/workflow-editor/nodes/types.ts";
import { type ConditionRow, OPERATORS, readConditionRows, valueName } from "#server/workflow/condition-rows.ts";

const MAX_CHARACTERS = 120;
const MAX_ROWS = 3;

const short = (text: string) => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text);

function rowInWords({ value, operator, operand }: ConditionRow): PlainPart[] {
  const { title, takes } = OPERATORS[operator];
  const left: PlainPart[] = [{ chip: valueName(value), tone: "expression" }, ` ${title}`];
  if (takes === null) return left;
  if (operand === null) return [...left, " ", { chip: takes, tone: "missing" }];
  return [...left, " ", "value" in operand ? { chip: valueName(operand.value), tone: "expression" } : { chip: short(operand.text) }];
}

/** A condition as a part of a sentence: rows in their words; null for one that is no rows, and shows its Python. */
export function conditionInWords(condition: string): PlainPart[] | null {
  const { match, rows } = readConditionRows(condition) ?? { match: "all", rows: [] };
  if (rows.length === 0) return null;
  const join = match === "all" ? " and " : " or ";
  const said = rows.slice(0, MAX_ROWS).flatMap((row, index) => [...(index > 0 ? [join] : []), ...rowInWords(row)]);
  return rows.length > MAX_ROWS ? [...said, `${join}${rows.length - MAX_ROWS} more`] : said;
}
