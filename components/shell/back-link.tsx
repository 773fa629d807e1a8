import { ChevronLeft } from "lucide-react";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { thumbRoom } from "#components/ui/styles.ts";

/** To the list that a page is of. Beside `Page`, which every page loads for when it breaks, without the framework's links. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link
      href={href}
      className={cn("-ml-1 inline-flex h-6 w-fit items-center gap-0.5 rounded-sm pr-1 text-12 text-ink-soft hover:text-ink", thumbRoom)}
    >
      <ChevronLeft aria-hidden className="size-3.5" />
      {children}
    </Link>
  );
}
