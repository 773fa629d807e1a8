"use client";

import { BookOpen } from "lucide-react";
import { usePathname } from "next/navigation";
import { useWaitingCount } from "#components/approvals/use-waiting-count.ts";
import { SearchButton } from "#components/navigation/palette-door.tsx";
import { isCurrent, type NavItem, navItems, settingsItem } from "#components/navigation/places.ts";
import { ProjectSwitcher } from "#components/navigation/project-switcher.tsx";
import { UserMenu } from "#components/navigation/user-menu.tsx";
import { useNotifications } from "#components/shell/use-notifications.ts";
import { cn } from "#components/ui/cn.ts";
import { MOD } from "#components/ui/kbd.tsx";
import { Link } from "#components/ui/link.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";

const linkStyle =
  "group/nav relative flex h-8 items-center gap-2.5 rounded-md px-2.5 text-14 text-ink-soft transition-colors hover:bg-hover hover:text-ink max-md:h-11 [&_svg]:size-3.5 [&_svg]:shrink-0";

function NavLink({ item, isRail, onNavigate }: { item: NavItem; isRail: boolean; onNavigate?: (() => void) | undefined }) {
  const isHere = isCurrent(item, usePathname());
  const link = (
    <Link
      href={item.href}
      {...(isHere && { "aria-current": "page" as const })}
      {...(onNavigate && { onClick: onNavigate })}
      className={cn(
        linkStyle,
        "aria-[current=page]:bg-press aria-[current=page]:text-ink",
        "before:absolute before:inset-y-2 before:left-0 before:w-0.5 before:rounded-full aria-[current=page]:before:bg-thread",
      )}
    >
      <item.icon aria-hidden className="group-aria-[current=page]/nav:text-thread-text" />
      <span className="truncate rail:sr-only">{item.label}</span>
      {item.counts === "reviews" && <WaitingBadge />}
      {item.counts === "failures" && <FailuresBadge />}
    </Link>
  );
  if (!isRail) return link;
  return (
    <Tooltip content={item.label} side="right">
      {link}
    </Tooltip>
  );
}

/** How many reviews wait. */
const WaitingBadge = () => <CountBadge count={useWaitingCount()} what="waiting" className="bg-waiting-soft text-waiting rail:bg-waiting" />;

/** How many workflows have failed that nobody here has looked at yet. */
const FailuresBadge = () => (
  <CountBadge count={useNotifications().data?.failures ?? 0} what="failed" className="bg-failed-soft text-failed rail:bg-failed" />
);

/** A number at the end of an item; on the rail's icon a dot. */
function CountBadge({ count, what, className }: { count: number; what: string; className: string }) {
  if (count === 0) return null;
  return (
    <span
      className={cn(
        "ml-auto inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-full px-1.5 font-semibold text-12 tabular rail:absolute rail:top-1 rail:right-1 rail:size-2 rail:min-w-0 rail:p-0",
        className,
      )}
    >
      <span className="rail:sr-only">
        {count > 99 ? "99+" : count}
        <span className="sr-only"> {what}</span>
      </span>
    </span>
  );
}

/** The studio's places; used in the column at the left and in the drawer of small screens. */
export function Navigation({ isRail, onNavigate }: { isRail: boolean; onNavigate?: () => void }) {
  const docs = (
    <Link href="/docs" {...(onNavigate && { onClick: onNavigate })} className={linkStyle}>
      <BookOpen aria-hidden />
      <span className="truncate rail:sr-only">Guide</span>
    </Link>
  );
  return (
    <>
      <div className="flex flex-col gap-1 px-2 pb-3">
        <ProjectSwitcher />
        {isRail ? (
          <Tooltip content="Search" shortcut={[MOD, "K"]} side="right">
            <SearchButton {...(onNavigate && { onClick: onNavigate })} />
          </Tooltip>
        ) : (
          <SearchButton {...(onNavigate && { onClick: onNavigate })} />
        )}
      </div>
      <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-0.5 overflow-y-auto px-2 pb-2">
        {navItems.map((item) => (
          <NavLink key={item.href} item={item} isRail={isRail} onNavigate={onNavigate} />
        ))}
        <div className="mt-auto flex flex-col gap-0.5 pt-4">
          {isRail ? (
            <Tooltip content="Guide" side="right">
              {docs}
            </Tooltip>
          ) : (
            docs
          )}
          <NavLink item={settingsItem} isRail={isRail} onNavigate={onNavigate} />
        </div>
      </nav>
      <div className="border-t p-2">
        <UserMenu />
      </div>
    </>
  );
}
