import { join } from "node:path";
import { parse } from "yaml";
import { CreateSkillInput, type Skill } from "#server/features/skills/schema.ts";
import { readDataFiles } from "#server/platform/data-files.ts";
import { Id } from "#server/shared/primitives-schema.ts";

const BuiltinSkill = CreateSkillInput.extend({ id: Id, model: CreateSkillInput.shape.model.optional() });

function readSkill(text: string): Skill {
  const [, head, prompt] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  if (head === undefined) throw new Error("it does not begin with its name between two lines of ---");
  return { ...BuiltinSkill.parse({ ...parse(head), prompt }), source: "builtin" };
}

/**
 * The skills that every project has, each a file in the folder `builtin`: instructions for a model, to stand beside an agent's
 * own; the text to work on comes in the message. Agents keep the ids, which are UUID v7 like all others: they never change, and
 * the id of a skill that is taken out is not used again. The oldest comes first.
 */
export const builtinSkills: readonly Skill[] = readDataFiles(join(import.meta.dirname, "builtin"), ".md", readSkill).sort((a, b) =>
  a.id.localeCompare(b.id),
);
