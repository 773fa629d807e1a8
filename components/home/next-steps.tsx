"use client";

import { Braces, ChevronRight, UserPlus } from "lucide-react";
import Link from "next/link";
import { HomeSection } from "#components/home/run-list.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";

const rowStyle = "flex min-h-11 items-center gap-2.5 px-3 transition-colors hover:bg-hover [&>svg]:size-3.5 [&>svg]:text-ink-faint";

/** Where to go once the first workflow has run. */
export function NextSteps() {
  const { canAdminister } = useStudio();
  return (
    <HomeSection title="Next">
      <ul className="divide-y">
        <li>
          <Link href="/docs/rest" className={rowStyle}>
            <Braces aria-hidden />
            Call a workflow over REST
            <ChevronRight aria-hidden className="ml-auto" />
          </Link>
        </li>
        {canAdminister && (
          <li>
            <Link href="/settings/members" className={rowStyle}>
              <UserPlus aria-hidden />
              Invite a colleague
              <ChevronRight aria-hidden className="ml-auto" />
            </Link>
          </li>
        )}
      </ul>
    </HomeSection>
  );
}
