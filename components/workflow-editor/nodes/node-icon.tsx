import { CircleHelp } from "lucide-react";
import { cn } from "#components/ui/cn.ts";
import { nodeLooks } from "#components/workflow-editor/nodes/looks.gen.ts";
import type { NodeRole } from "#components/workflow-editor/nodes/types.ts";
import { own } from "#server/shared/json-text.ts";

const ROLES: Record<NodeRole, string> = {
  agent: "bg-role-agent-soft text-role-agent",
  logic: "bg-role-logic-soft text-role-logic",
  flow: "bg-role-flow-soft text-role-flow",
  state: "bg-role-state-soft text-role-state",
  interface: "bg-role-interface-soft text-role-interface",
  human: "bg-role-human-soft text-role-human",
  output: "bg-role-output-soft text-role-output",
};

/** Icon and colour of a type; undefined for one that this version does not know. */
const lookOf = (type: string | undefined) => own(nodeLooks, type ?? "");

/** Classes of a type's colour: tinted ground, ink of the same colour. */
export const roleStyle = (type: string | undefined): string => ROLES[lookOf(type)?.role ?? "flow"];

/** The icon of a node's type on its colour. */
export function NodeIcon({ type, className }: { type: string | undefined; className?: string }) {
  const Icon = lookOf(type)?.icon ?? CircleHelp;
  return (
    <span aria-hidden className={cn("inline-flex size-6 shrink-0 items-center justify-center rounded-md", roleStyle(type), className)}>
      <Icon className="size-3.5" strokeWidth={2} />
    </span>
  );
}
