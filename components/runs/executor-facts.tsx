import { Time } from "#components/ui/time.tsx";
import type { ExecutorContact } from "#server/jobs/schema.ts";

const or = (time: string | null) => (time === null ? "never" : <Time value={time} />);

/** When an Inngest server and this service last heard of each other, and what was refused last, unless that is the problem at hand. */
export function ExecutorFacts({ contact: { problem, event_taken_at, called_at, last_refusal } }: { contact: ExecutorContact }) {
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-12 text-ink-soft [&>div]:flex [&>div]:gap-1">
      <div>
        <dt>Last event taken:</dt>
        <dd>{or(event_taken_at)}</dd>
      </div>
      <div>
        <dt>Last signed call:</dt>
        <dd>{or(called_at)}</dd>
      </div>
      <div>
        <dt>Last refusal:</dt>
        <dd>
          {or(last_refusal?.at ?? null)}
          {last_refusal && last_refusal.detail !== problem && `. ${last_refusal.detail}`}
        </dd>
      </div>
    </dl>
  );
}
