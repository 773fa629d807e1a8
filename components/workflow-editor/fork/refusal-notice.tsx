import type { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

/** Choice after a refusal to reuse results of another input: keep them, or reuse nothing that depends on the input. */
export type Reuse = "stale" | "fresh";

interface RefusalNoticeProps {
  error: ReturnType<typeof errorBodyOf>;
  isPending: boolean;
  onChoose: (reuse: Reuse) => void;
  className?: string;
}

/** Says why a run was not started, with the choice where results of another input would be reused. */
export function RefusalNotice({ error: { detail, errors = [] }, isPending, onChoose, className }: RefusalNoticeProps) {
  const stale = errors.find(({ path }) => path === "reuse_stale");
  return (
    <Notice
      tone="failed"
      {...(className !== undefined && { className })}
      {...(stale && {
        actions: (
          <>
            <Button size="sm" isPending={isPending} onClick={() => onChoose("fresh")}>
              Run what depends on the input
            </Button>
            <Button size="sm" isPending={isPending} onClick={() => onChoose("stale")}>
              Keep previous results
            </Button>
          </>
        ),
      })}
    >
      {stale?.message ?? detail}
      {errors.length > 1 && (
        <ul className="mt-1 list-disc pl-4">
          {errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
