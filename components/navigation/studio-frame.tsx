"use client";

import { Menu as MenuIcon, PanelLeft } from "lucide-react";
import { usePathname } from "next/navigation";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { AssistantButton, AssistantSide } from "#components/navigation/assistant-side.tsx";
import { InvitationBanner } from "#components/navigation/invitation-banner.tsx";
import { LimitNotices } from "#components/navigation/limit-notices.tsx";
import { Navigation } from "#components/navigation/navigation.tsx";
import { NotificationBell } from "#components/navigation/notification-bell.tsx";
import { PaletteDoor, SearchIconButton } from "#components/navigation/palette-door.tsx";
import { PutAsideBanner } from "#components/navigation/put-aside-banner.tsx";
import { useAddToCanvas } from "#components/shell/add-to-canvas.tsx";
import { ASSISTANT_PAGE } from "#components/shell/assistant.tsx";
import { EDITOR_PATH } from "#components/shell/boot-script.ts";
import { Logo, LogoMark } from "#components/shell/logo.tsx";
import { cn } from "#components/ui/cn.ts";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { thumbRoom } from "#components/ui/styles.ts";

/** Navigation column (or top bar and drawer below 768 px) and the page beside it. The page scrolls, the frame does not. */
export function StudioFrame({ children }: { children: ReactNode }) {
  const { isRail, toggle } = useNavigationWidth();
  // On a phone the open assistant lies over the page, but not over its own.
  const behind = usePathname() !== ASSISTANT_PAGE && "max-md:in-data-[assistant=open]:invisible";
  return (
    <div className="flex h-dvh flex-col md:flex-row print:block print:h-auto">
      <a
        href="#main"
        className="sr-only rounded-md bg-thread px-3 py-2 font-semibold text-on-thread focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60"
      >
        Skip to content
      </a>
      <aside className="flex w-59.5 shrink-0 flex-col border-r bg-paper max-md:hidden in-data-wall:hidden rail:w-12 print:hidden">
        <div className="flex min-h-12 shrink-0 items-center gap-1 pr-2 pl-4 rail:flex-col-reverse rail:justify-center rail:px-0 rail:py-2.5">
          <Link href="/" className="rounded-sm rail:hidden">
            <Logo />
          </Link>
          <span className="ml-auto flex gap-1 rail:ml-0 rail:flex-col">
            <AssistantButton />
            <NotificationBell />
          </span>
          <IconButton
            label={isRail ? "Expand navigation" : "Collapse navigation"}
            aria-expanded={!isRail}
            side="right"
            icon={<PanelLeft />}
            onClick={toggle}
          />
        </div>
        <Navigation isRail={isRail} />
      </aside>
      <MobileBar className={behind} />
      <div className={cn("flex min-h-0 min-w-0 flex-1 flex-col", behind)}>
        <div className="in-data-wall:hidden print:hidden">
          <LimitNotices />
          <InvitationBanner className="border-b" />
          <PutAsideBanner />
        </div>
        <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 overflow-y-auto focus:outline-none print:overflow-visible">
          {children}
        </main>
      </div>
      <AssistantSide />
      <AddToCanvas />
      <PaletteDoor />
    </div>
  );
}

const AddToCanvasDialog = loadedOnUse(() =>
  import("#components/canvases/editing/add-to-canvas-dialog.tsx").then((module) => module.AddToCanvasDialog),
);

/** Loaded once somebody asks for it. */
function AddToCanvas() {
  const wanted = useAddToCanvas((state) => state.wanted);
  return wanted && <AddToCanvasDialog source={wanted} />;
}

function MobileBar({ className }: { className: string | false }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <header className={cn("flex h-12 shrink-0 items-center gap-2 border-b px-2 in-data-wall:hidden md:hidden print:hidden", className)}>
      <Radix.Root open={isOpen} onOpenChange={setIsOpen}>
        <Radix.Trigger asChild>
          <IconButton label="Open navigation" icon={<MenuIcon className="size-4!" />} size="lg" hasTooltip={false} className="size-10" />
        </Radix.Trigger>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-scrim" />
          <Radix.Content
            aria-describedby={undefined}
            onCloseAutoFocus={stayWhereFocusIs}
            className="fixed inset-y-0 left-0 z-40 flex w-72 animate-slide-in flex-col border-r bg-paper shadow-lg"
          >
            <Radix.Title className="flex h-14 items-center px-4">
              <Logo />
              <span className="sr-only">Navigation</span>
            </Radix.Title>
            <Navigation isRail={false} onNavigate={() => setIsOpen(false)} />
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <Link href="/" aria-label="Treadle, home" className={cn("inline-flex items-center gap-2 font-semibold text-16", thumbRoom)}>
        <LogoMark />
        Treadle
      </Link>
      <div className="ml-auto flex">
        <SearchIconButton />
        <AssistantButton size="lg" className="size-10 [&_svg]:size-4!" />
        <NotificationBell size="lg" className="size-10" />
      </div>
    </header>
  );
}

const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function show(isRail: boolean): void {
  if (isRail) document.documentElement.dataset.nav = "rail";
  else delete document.documentElement.dataset.nav;
  for (const listener of listeners) listener();
}

/** What was chosen for the editor, or for every other page; unless somebody chose, the editor alone has a rail. */
const keyOf = (isEditor: boolean) => (isEditor ? "treadle.nav.editor" : "treadle.nav");
function wantsRail(isEditor: boolean): boolean {
  try {
    const chosen = localStorage.getItem(keyOf(isEditor));
    return isEditor ? chosen !== "full" : chosen === "rail";
  } catch {
    return isEditor;
  }
}

/** Whether the navigation is folded to a rail of icons, and the switch for it; the editor of a workflow remembers its own. */
function useNavigationWidth(): { isRail: boolean; toggle: () => void } {
  const isEditor = EDITOR_PATH.test(usePathname());
  const isRail = useSyncExternalStore(
    subscribe,
    () => document.documentElement.dataset.nav === "rail",
    () => false,
  );
  // The boot script has done so for the page that was loaded; this is for those that one goes to from there.
  useLayoutEffect(() => show(wantsRail(isEditor)), [isEditor]);
  const toggle = () => {
    show(!isRail);
    try {
      localStorage.setItem(keyOf(isEditor), isRail ? "full" : "rail");
    } catch {
      // Without storage the width lasts until the page closes.
    }
  };
  return { isRail, toggle };
}
