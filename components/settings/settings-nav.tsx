"use client";

import { usePathname } from "next/navigation";
import { useLayoutEffect, useRef } from "react";
import { installSettings, personalSettings, projectSettings } from "#components/shell/settings-pages.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Link } from "#components/ui/link.tsx";

/** The pages of the settings: one's own, the project's, the install's. A column beside them, or a row above them where there is no room. */
export function SettingsNav() {
  const pathname = usePathname();
  const { user, project } = useStudio();
  const nav = useRef<HTMLElement>(null);
  // Where they stand in a row they may not fit: the one that is open is brought into view. Not by scrollIntoView, which moves the page too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another open one
  useLayoutEffect(() => {
    const open = nav.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (!nav.current || !open) return;
    nav.current.scrollLeft = open.offsetLeft - (nav.current.clientWidth - open.offsetWidth) / 2;
  }, [pathname]);
  const groups = [
    { name: "You", places: personalSettings },
    { name: project.name, places: projectSettings },
    ...(user.isInstallAdmin ? [{ name: "This install", places: installSettings }] : []),
  ];
  return (
    <nav
      ref={nav}
      aria-label="Settings"
      className="relative flex min-w-0 overflow-x-auto max-lg:-mb-2 max-lg:border-b max-lg:pr-8 max-lg:[mask-image:linear-gradient(to_right,black_calc(100%-2.5rem),transparent)] lg:sticky lg:top-8 lg:flex-col lg:gap-5 lg:self-start"
    >
      {groups.map(({ name, places }) => (
        <fieldset
          key={name}
          aria-label={name}
          className="flex shrink-0 max-lg:not-last:mr-3 max-lg:gap-4 max-lg:not-last:border-r max-lg:not-last:pr-3 lg:min-w-0 lg:flex-col lg:gap-0.5"
        >
          <span className="truncate px-2 pb-1 font-semibold text-12 text-ink-faint max-lg:hidden">{name}</span>
          {places.map(({ href, label }) => (
            <Link
              key={href}
              href={href}
              {...(pathname === href && { "aria-current": "page" as const })}
              className="relative flex h-9 shrink-0 items-center text-14 text-ink-soft hover:text-ink focus-visible:outline-offset-[-2px] aria-[current=page]:text-ink max-sm:h-11 max-lg:min-w-11 max-lg:justify-center max-lg:font-semibold max-lg:after:absolute max-lg:after:inset-x-0 max-lg:after:bottom-0 max-lg:after:h-0.5 max-lg:after:rounded-full max-lg:aria-[current=page]:after:bg-thread lg:h-8 lg:rounded-md lg:px-2 lg:hover:bg-hover lg:aria-[current=page]:bg-hover lg:aria-[current=page]:font-semibold"
            >
              {label}
            </Link>
          ))}
        </fieldset>
      ))}
    </nav>
  );
}
