import { hasExpression } from "#server/workflow/expression-scan.ts";
import { suggestion } from "#server/workflow/expressions.ts";
import type { NodeProblem } from "#server/workflow/nodes/definition.ts";
import { type Token, textIn, tokensOf } from "#server/workflow/rename.ts";

// Findings about a Python condition that its grammar does not show. Pure and browser-safe.

const VALUE = String.raw`(?:output|trigger_output|node_outputs\[""\]|node_outputs\.get\(""(?:, ?"")?\))(?:\.(?:strip|lower|upper)\(\))?`;
const NUMBER = String.raw`-?(?:\d+(?:\.\d*)?|\.\d+)`;
const SIGN = "(?:[<>]=?|[=!]=)";

/** A variable beside a number, in either order; the text in between has been reduced to single blanks. */
const TEXT_WITH_NUMBER = new RegExp(
  String.raw`(?<![\w.])${VALUE} ?${SIGN} ?${NUMBER}(?![\w.])|(?<![\w.])${NUMBER} ?${SIGN} ?${VALUE}(?![\w.([])`,
);

/** The code without comments, with every literal text empty and every blank single. */
const bareCode = (tokens: readonly Token[]): string =>
  tokens
    .map(({ text, string }) => (string ? '""' : text.startsWith("#") ? "" : text))
    .join("")
    .replace(/\s+/g, " ");

/** Names that the condition reads as `node_outputs["name"]`, which fails where there is no such name. */
function requiredNames(tokens: readonly Token[]): string[] {
  const code = tokens.filter(({ text }) => !/^(?:\s+|#.*)$/s.test(text));
  return code.flatMap(({ text }, at) => {
    const [before, open, key, close] = [code[at - 1], code[at + 1], code[at + 2], code[at + 3]];
    const isRead = text === "node_outputs" && before?.text !== "." && open?.text === "[" && close?.text === "]";
    const name = isRead && key ? textIn(key) : undefined;
    return name === undefined ? [] : [name];
  });
}

/**
 * Finds unknown names, braces and comparisons of a text with a number.
 * @param names labels and agents' names of the workflow
 */
export function checkCondition(condition: string, names: ReadonlySet<string>): Omit<NodeProblem, "field">[] {
  const tokens = tokensOf(condition);
  const unknown = [...new Set(requiredNames(tokens))].filter((name) => !names.has(name));
  const code = bareCode(tokens);
  const texts = tokens.flatMap((token) => textIn(token) ?? []);
  return [
    ...unknown.map((name) => ({
      message: `node_outputs[${JSON.stringify(name)}]: no node and no agent of this workflow has this name.${suggestion([...names], name)}`,
    })),
    ...([code, ...texts].some(hasExpression)
      ? [
          {
            severity: "warning" as const,
            message: 'A condition does not replace {{expressions}}. Read values by output, trigger_output or node_outputs["name"].',
          },
        ]
      : []),
    ...(TEXT_WITH_NUMBER.test(code)
      ? [
          {
            severity: "warning" as const,
            message:
              "This compares a text with a number, and a text is never equal to, above or below one. Convert it first, as in float(output) > 5.",
          },
        ]
      : []),
  ];
}
