"use client";

import { Search } from "lucide-react";
import { cn } from "#components/ui/cn.ts";
import { Input } from "#components/ui/input.tsx";

export interface SearchFieldProps {
  /** Accessible name and placeholder, e.g. "Search workflows". */
  label: string;
  value: string;
  onValueChange: (value: string) => void;
  className?: string;
}

export function SearchField({ label, value, onValueChange, className }: SearchFieldProps) {
  return (
    <div className={cn("relative", className)}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-faint" />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onValueChange("")}
        className="pl-8"
      />
    </div>
  );
}
