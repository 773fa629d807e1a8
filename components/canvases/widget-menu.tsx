"use client";

import { EllipsisVertical, FileSpreadsheet, Workflow } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { QUIET } from "#components/canvases/widgets/widget-view.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import type { Widget } from "#server/features/canvases/schema.ts";

/** Name of a file: letters and digits of any script, and dashes. */
const fileName = (name: string, ending: string): string =>
  `${
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .slice(0, 60)
      .replace(/^-+|-+$/g, "") || "widget"
  }.${ending}`;

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface WidgetMenuProps {
  canvasId: string;
  widget: Widget;
  /** In place of its own: the file holds what is shown. */
  range: string | undefined;
  /** More of what can be done with it. */
  children?: ReactNode;
}

/** What can be done with one widget. */
export function WidgetMenu({ canvasId, widget: { id, title, type, workflow_id }, range, children }: WidgetMenuProps) {
  const { project } = useStudio();
  const saveTable = async () => {
    try {
      const query = new URLSearchParams({ widget_id: id, ...(range && { range }) });
      // Not a link: that could not say in which of several projects.
      const answer = await fetch(`/api/v1/canvases/${canvasId}/data.csv?${query}`, { headers: { "X-Project-ID": project.id } });
      if (!answer.ok) throw new Error("The service did not answer with it. Reload the page and try again.");
      save(await answer.blob(), fileName(title || type, "csv"));
    } catch (error) {
      toast.error("Nothing was downloaded", { description: error instanceof Error ? error.message : undefined });
    }
  };
  return (
    <Menu
      label={`Actions of ${title || type}`}
      trigger={
        <IconButton label={`Actions of ${title || type}`} hasTooltip={false} size="sm" icon={<EllipsisVertical />} className={QUIET} />
      }
    >
      {children}
      {children && <MenuSeparator />}
      <MenuItem icon={<FileSpreadsheet />} onSelect={() => void saveTable()}>
        Download as CSV
      </MenuItem>
      <MenuItem asChild>
        <Link href={`/workflows/${workflow_id}`}>
          <Workflow />
          <span className="min-w-0 flex-1 truncate">Open workflow</span>
        </Link>
      </MenuItem>
    </Menu>
  );
}
