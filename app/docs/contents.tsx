"use client";

import { usePathname } from "next/navigation";
import { useEffect, useState } from "react";
import { cn } from "#components/ui/cn.ts";

interface Heading {
  id: string;
  title: string;
  isDeep: boolean;
}

/** The headings of the chapter that is open, read off the page: some of them are made of tables and schemas, not written. */
export function Contents() {
  const pathname = usePathname();
  const [headings, setHeadings] = useState<Heading[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address shows another chapter
  useEffect(() => {
    const found = document.querySelectorAll<HTMLElement>("article :is(h2, h3)[id]");
    setHeadings(Array.from(found, ({ id, textContent, tagName }) => ({ id, title: textContent, isDeep: tagName === "H3" })));
  }, [pathname]);
  if (headings.length < 2) return null;
  return (
    <nav
      aria-label="On this page"
      className="hidden text-12 xl:sticky xl:top-14 xl:block xl:max-h-[calc(100dvh-3.5rem)] xl:self-start xl:overflow-y-auto xl:py-2"
    >
      <ul className="flex flex-col border-l">
        {headings.map(({ id, title, isDeep }) => (
          <li key={id}>
            <a href={`#${id}`} className={cn("block rounded-sm py-1 pl-3 text-ink-soft hover:text-ink", isDeep && "pl-6")}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
