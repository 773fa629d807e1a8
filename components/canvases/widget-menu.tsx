"use client";

import { FileSpreadsheet, Image, Workflow } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { formatTime, rangeWords, useReader } from "#components/canvases/widgets/reader.ts";
import { QUIET } from "#components/canvases/widgets/widget-view.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Link } from "#components/ui/link.tsx";
import { MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Widget, WidgetRange } from "#server/features/canvases/schema.ts";

/** Name of a file: letters and digits of any script, and dashes. */
const fileName = (name: string, ending: string): string =>
  `${
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .slice(0, 60)
      .replace(/^-|-$/g, "") || "widget"
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
  range: WidgetRange | undefined;
  /** More of what can be done with it. */
  children?: ReactNode;
}

/** What can be done with one widget. */
export function WidgetMenu({ canvasId, widget, range, children }: WidgetMenuProps) {
  const { id, title, type, workflow_id } = widget;
  const { project } = useStudio();
  const reader = useReader();
  const here = useRef<HTMLSpanElement>(null);
  const savePicture = async () => {
    try {
      const shown = here.current?.closest("section");
      if (!shown) throw new Error("The widget is not on the page any more.");
      const { pictureOf } = await import("#components/canvases/widget-picture.ts");
      const caption = [rangeWords(widget, range) ?? "Latest run", `as of ${formatTime(reader, Date.now(), "minute")}`].join(", ");
      save(await pictureOf(shown, caption), fileName(title || type, "png"));
    } catch (error) {
      toast.error("No picture was made", {
        description: `${error instanceof Error ? error.message : "The browser could not draw it."} Print the canvas, or download the widget as CSV.`,
      });
    }
  };
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
    <span ref={here} className="contents">
      <RowMenu of={title || type} size="sm" className={QUIET}>
        {children}
        {children && <MenuSeparator />}
        <MenuItem icon={<FileSpreadsheet />} onSelect={() => void saveTable()}>
          Download as CSV
        </MenuItem>
        <MenuItem icon={<Image />} onSelect={() => void savePicture()}>
          Download as PNG
        </MenuItem>
        <MenuItem asChild>
          <Link href={`/workflows/${workflow_id}`}>
            <Workflow />
            <span className="min-w-0 flex-1 truncate">Open workflow</span>
          </Link>
        </MenuItem>
      </RowMenu>
    </span>
  );
}
