import { plural } from "#components/format.ts";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { Badge } from "#components/ui/badge.tsx";
import type { WorkflowTemplate } from "#server/features/workflow-files/schema.ts";

/** Kind of the trigger of a template. */
const triggerOf = ({ file }: WorkflowTemplate): string =>
  String(file.nodes.find((node) => node.type === "triggerNode")?.data.kind ?? "manual");

/** What starts a template, and what must be there to run it. */
export function TemplateNeeds({ template }: { template: WorkflowTemplate }) {
  const { agents, rag_sources, mcp_servers, workflows = [] } = template.file.requires;
  const searches = agents.some(({ tools }) => tools.length > 0);
  return (
    <span className="flex flex-wrap items-center gap-1.5 text-12">
      <span className="mr-1">
        <TriggerLabel kind={triggerOf(template)} />
      </span>
      {template.needs_model ? <Badge>{plural(agents.length, "agent")}</Badge> : <Badge tone="complete">No model key needed</Badge>}
      {workflows.length > 0 && <Badge>{plural(workflows.length, "sub-workflow")}</Badge>}
      {searches && <Badge>Web search</Badge>}
      {rag_sources.length > 0 && <Badge>Knowledge</Badge>}
      {mcp_servers.length > 0 && <Badge>MCP</Badge>}
    </span>
  );
}
