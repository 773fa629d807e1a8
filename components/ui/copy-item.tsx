"use client";

import { Copy } from "lucide-react";
import { copyText } from "#components/ui/copy.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { toast } from "#components/ui/toaster.tsx";

interface CopyItemProps {
  /** What is copied, e.g. "link"; the item is called "Copy link". */
  what: string;
  text: () => string;
}

/** Copies from a menu, which is gone by then: that it is done is said elsewhere. */
export function CopyItem({ what, text }: CopyItemProps) {
  const copy = async () => {
    if (await copyText(what, text)) toast.success(`The ${what} is copied`);
  };
  return (
    <MenuItem icon={<Copy />} onSelect={() => void copy()}>
      Copy {what}
    </MenuItem>
  );
}
