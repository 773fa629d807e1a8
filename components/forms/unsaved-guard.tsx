"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));

/** The address inside this site that a plain click on a link leads to; null for anything else. */
function destinationOf(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || (link.target !== "" && link.target !== "_self") || link.origin !== location.origin)
    return null;
  return link.pathname === location.pathname ? null : link.pathname + link.search;
}

/** While `isDirty`, asks before a link, the back button, a reload or closing the tab throws away what was typed. */
export function UnsavedGuard({ isDirty }: { isDirty: boolean }) {
  const router = useRouter();
  const [leave, setLeave] = useState<{ go: () => void } | null>(null);

  useEffect(() => {
    if (!isDirty) return;
    let isLeaving = false;
    const onUnload = (event: BeforeUnloadEvent) => {
      if (!isLeaving) event.preventDefault();
    };
    const onClick = (event: MouseEvent) => {
      const destination = destinationOf(event);
      if (!destination) return;
      event.preventDefault();
      event.stopPropagation();
      setLeave({ go: () => router.push(destination) });
    };
    // Where the browser lets a page hold back the back button (it does so after the page has been used).
    const onNavigate = (event: NavigateEvent) => {
      if (isLeaving || event.navigationType !== "traverse" || !event.cancelable) return;
      const { key } = event.destination;
      event.preventDefault();
      setLeave({
        go: () => {
          isLeaving = true;
          window.navigation.traverseTo(key);
        },
      });
    };
    addEventListener("beforeunload", onUnload);
    document.addEventListener("click", onClick, { capture: true });
    window.navigation?.addEventListener("navigate", onNavigate);
    return () => {
      removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onClick, { capture: true });
      window.navigation?.removeEventListener("navigate", onNavigate);
    };
  }, [isDirty, router]);

  return (
    leave && (
      <ConfirmDialog
        onClose={() => setLeave(null)}
        title="Leave without saving?"
        confirmLabel="Leave"
        cancelLabel="Keep editing"
        onConfirm={async () => leave.go()}
      >
        What you changed on this page has not been saved.
      </ConfirmDialog>
    )
  );
}
