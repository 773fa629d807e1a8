"use client";

import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";

/** The chapters in their order: each is a folder here. */
const chapters = [
  { href: "/docs", label: "First steps" },
  { href: "/docs/editor", label: "The editor" },
  { href: "/docs/triggers", label: "Triggers" },
  { href: "/docs/webhook-senders", label: "Webhook senders" },
  { href: "/docs/nodes", label: "Nodes" },
  { href: "/docs/expressions", label: "Expressions" },
  { href: "/docs/filters", label: "Filters" },
  { href: "/docs/runs", label: "Runs" },
  { href: "/docs/failures", label: "When a run fails" },
  { href: "/docs/reviews", label: "Reviews" },
  { href: "/docs/assistant", label: "The assistant" },
  { href: "/docs/agents", label: "Agents and tools" },
  { href: "/docs/knowledge", label: "Knowledge" },
  { href: "/docs/credentials", label: "Credentials" },
  { href: "/docs/canvases", label: "Canvases" },
  { href: "/docs/costs", label: "Costs" },
  { href: "/docs/rest", label: "REST with curl" },
  { href: "/docs/clients", label: "Clients" },
  { href: "/docs/api", label: "API reference" },
  { href: "/docs/from-n8n", label: "Coming from n8n" },
  { href: "/docs/from-dify", label: "Coming from Dify" },
  { href: "/docs/administration", label: "Administration" },
  { href: "/docs/security", label: "Security" },
];

interface DocsNavigationProps {
  /** Below "Nodes", while it is open. */
  nodes: { href: string; label: string }[];
}

export function DocsNavigation({ nodes }: DocsNavigationProps) {
  const pathname = usePathname();
  const shown = chapters.flatMap((chapter) =>
    chapter.href === "/docs/nodes" && pathname.startsWith(chapter.href) ? [chapter, ...nodes] : [chapter],
  );
  const list = useRef<HTMLElement>(null);
  // On a phone the chapters are one row, in which the open one may be out of sight.
  useEffect(() => {
    const open = list.current?.querySelector<HTMLElement>(`[href="${pathname}"]`);
    if (list.current && open) list.current.scrollLeft = open.offsetLeft - (list.current.clientWidth - open.offsetWidth) / 2;
  }, [pathname]);
  return (
    <nav
      ref={list}
      aria-label="Guide"
      className="relative flex gap-1 md:sticky md:top-14 md:h-[calc(100dvh-3.5rem)] md:flex-col md:gap-0.5 md:overflow-y-auto md:py-8 max-md:-mx-4 max-md:overflow-x-auto max-md:border-b max-md:px-2 max-md:py-2"
    >
      {shown.map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          {...(pathname === href && { "aria-current": "page" as const })}
          className={cn(
            "flex h-8 shrink-0 items-center max-md:h-11 max-md:min-w-11 max-md:justify-center rounded-md px-2.5 font-normal aria-[current=page]:font-semibold text-14 text-ink-soft hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:text-ink",
            href.startsWith("/docs/nodes/") && "md:ml-3 md:h-7 md:font-normal",
          )}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
