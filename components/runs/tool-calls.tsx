import { ToolStep } from "#components/runs/tool-step.tsx";
import type { RunToolCall } from "#server/runs/schema.ts";

/** The tool calls that an agent made in a run, in the order in which they began. */
export function ToolCalls({ calls }: { calls: readonly RunToolCall[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {calls.map(({ name, args, result, success = true }, index) => (
        <li key={index.toString()}>
          <ToolStep part={{ name, args, answer: result === undefined ? null : { result, success } }} isRunning={false} />
        </li>
      ))}
    </ol>
  );
}
