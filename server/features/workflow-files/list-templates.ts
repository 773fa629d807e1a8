import { join } from "node:path";
import { parse } from "yaml";
import { WorkflowFile, type WorkflowTemplate } from "#server/features/workflow-files/schema.ts";
import { readDataFiles } from "#server/platform/data-files.ts";

/** A template is a workflow's file as it is exported; its name is the template's id, its description what the gallery says of it. */
function readTemplate(text: string, id: string): WorkflowTemplate {
  const file = WorkflowFile.parse(parse(text));
  return { id, summary: file.description, needs_model: file.requires.agents.length > 0, file };
}

let templates: WorkflowTemplate[] | undefined;

/**
 * The workflows of the gallery: those that run without a model come first, and of either kind the small ones. Their files are
 * read when they are first asked for: to read them is a tenth of what a start does.
 */
export function listTemplates(): { items: WorkflowTemplate[] } {
  templates ??= readDataFiles(join(import.meta.dirname, "templates"), ".yaml", readTemplate).sort(
    (a, b) => Number(a.needs_model) - Number(b.needs_model) || a.file.nodes.length - b.file.nodes.length,
  );
  return { items: templates };
}
