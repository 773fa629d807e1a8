"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useEffectEvent } from "react";
import { formatCount } from "#components/format.ts";
import { IconButton } from "#components/ui/icon-button.tsx";

/** How many rows a list is asked for at a time. */
export const PER_PAGE = 50;

interface PagerProps {
  page: number;
  perPage?: number;
  total: number;
  onPageChange: (page: number) => void;
}

/** Which part of a list is shown, and the way to the next. Nothing while all of it fits on one page. */
export function Pager({ page, perPage = PER_PAGE, total, onPageChange }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / perPage));
  // What stood on the page that is shown is gone, or an address names one that never was.
  const isBeyond = page > last;
  const goBack = useEffectEvent(() => onPageChange(last));
  useEffect(() => {
    if (isBeyond) goBack();
  }, [isBeyond]);
  if (last === 1 && page === 1) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-1 text-12 text-ink-soft">
      <span className="mr-2 tabular">
        {formatCount(Math.min((page - 1) * perPage + 1, total))}–{formatCount(Math.min(page * perPage, total))} of {formatCount(total)}
      </span>
      <IconButton label="Previous page" icon={<ChevronLeft />} disabled={page <= 1} onClick={() => onPageChange(page - 1)} />
      <IconButton label="Next page" icon={<ChevronRight />} disabled={page >= last} onClick={() => onPageChange(page + 1)} />
    </nav>
  );
}
