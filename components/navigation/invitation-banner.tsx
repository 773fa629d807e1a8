"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { openProject } from "#components/shell/project-cookie.ts";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { toast } from "#components/ui/toaster.tsx";

/** Asks whether to join the projects that the signed-in person is invited to; nothing when there are none. */
export function InvitationBanner({ className }: { className?: string }) {
  const trpc = useTRPC();
  const own = useQuery(trpc.identity.invitations.queryOptions({}, { staleTime: 60_000 }));
  const onError = (error: unknown) => toast.error("The invitation could not be answered", { description: errorBodyOf(error).detail });
  const accept = useMutation(trpc.identity.acceptInvitation.mutationOptions({ onError }));
  const decline = useMutation(trpc.identity.declineInvitation.mutationOptions({ onError, onSettled: () => void own.refetch() }));
  const [first, ...others] = own.data?.items ?? [];
  if (!first) return null;
  const { id, project, invited_by, role, was_member } = first;
  const isBusy = accept.isPending || decline.isPending;
  return (
    <section
      aria-label="Invitation"
      className={cn("flex flex-wrap items-center gap-x-4 gap-y-1.5 bg-thread-soft px-4 py-2 text-14 text-ink", className)}
    >
      <UserPlus aria-hidden className="-mr-1.5 size-3.5 shrink-0 text-thread-text max-sm:hidden" />
      <p className="min-w-0 break-words">
        {was_member ? (
          <>
            You were {role} of <strong className="font-semibold">{project.name}</strong> before your account got a new password. Take it up
            again?
          </>
        ) : (
          <>
            {invited_by ?? "A former member"} invites you to <strong className="font-semibold">{project.name}</strong> as {role}.
          </>
        )}
        {others.length > 0 && <span className="text-ink-soft"> {others.length} more after this.</span>}
      </p>
      <div className="flex gap-2">
        <Button
          variant="primary"
          size="sm"
          disabled={isBusy}
          isPending={accept.isPending}
          onClick={() => accept.mutate({ token: id }, { onSuccess: () => openProject(project.id) })}
        >
          Join
        </Button>
        <Button size="sm" disabled={isBusy} isPending={decline.isPending} onClick={() => decline.mutate({ invitation_id: id })}>
          Decline
        </Button>
      </div>
    </section>
  );
}
