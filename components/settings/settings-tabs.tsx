"use client";

import { usePathname } from "next/navigation";
import { useLayoutEffect, useRef } from "react";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Link } from "#components/ui/link.tsx";

const places = [
  { href: "/settings/project", label: "Project" },
  { href: "/settings/members", label: "Members" },
  { href: "/settings/usage", label: "Usage" },
  { href: "/settings/budgets", label: "Budgets" },
  { href: "/settings/audit", label: "Audit log" },
  { href: "/settings/credentials", label: "Credentials" },
  { href: "/settings/api-keys", label: "API keys" },
  { href: "/settings/profile", label: "Profile" },
];
const install = { href: "/settings/install", label: "Install" };

export function SettingsTabs() {
  const pathname = usePathname();
  const { user } = useStudio();
  const tabs = useRef<HTMLElement>(null);
  // On a phone the tabs do not fit: the one that is open is brought into view. Not by scrollIntoView, which moves the page too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another open tab
  useLayoutEffect(() => {
    const open = tabs.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (!tabs.current || !open) return;
    tabs.current.scrollLeft = open.offsetLeft - (tabs.current.clientWidth - open.offsetWidth) / 2;
  }, [pathname]);
  return (
    <nav
      ref={tabs}
      aria-label="Settings"
      className="relative -mb-2 flex gap-5 overflow-x-auto border-b max-sm:pr-8 max-sm:[mask-image:linear-gradient(to_right,black_calc(100%-2.5rem),transparent)]"
    >
      {[...places, ...(user.isInstallAdmin ? [install] : [])].map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          {...(pathname === href && { "aria-current": "page" as const })}
          className="relative flex h-9 shrink-0 items-center font-medium text-13 text-ink-soft after:absolute after:inset-x-0 after:bottom-0 after:h-0.5 after:rounded-full hover:text-ink focus-visible:outline-offset-[-2px] aria-[current=page]:text-ink aria-[current=page]:after:bg-thread"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
