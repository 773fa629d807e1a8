"use client";

import { Hash } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type ReactNode, useEffect } from "react";
import { cn } from "#components/ui/cn.ts";
import { itemStyle, surfaceStyle } from "#components/ui/styles.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";

export interface ValueOption {
  /** What is put into the text. */
  code: string;
  /** Name of what it is read of; options of one name stand together under it. */
  group?: string;
  nodeType: string;
  /** What kind of value it is. */
  kind?: string | null;
  hint: string | null;
}

export interface ValueListProps {
  id: string;
  options: readonly ValueOption[];
  active: number;
  onActive: (index: number) => void;
  onTake: (option: ValueOption) => void;
  /** True for what belongs to the text field, a click on which does not close the list. */
  isField: (target: EventTarget | null) => boolean;
}

/** Options with their places in the list, those that stand together in one group. */
function grouped(options: readonly ValueOption[]) {
  const groups: { name: string | undefined; nodeType: string; options: [index: number, option: ValueOption][] }[] = [];
  for (const [index, option] of options.entries()) {
    const last = groups.at(-1);
    if (last && last.name === option.group && option.group !== undefined) last.options.push([index, option]);
    else groups.push({ name: option.group, nodeType: option.nodeType, options: [[index, option]] });
  }
  return groups;
}

/** The values that a text can hold, under the text field; the field keeps the focus and handles the keys. */
export function ValueList({ id, options, active, onActive, onTake, isField }: ValueListProps) {
  // The arrow keys may lead out of what is seen.
  useEffect(() => {
    document.getElementById(`${id}${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);
  return (
    <Radix.Portal>
      <Radix.Content
        align="start"
        sideOffset={4}
        collisionPadding={8}
        aria-label="Values"
        onOpenAutoFocus={(event) => event.preventDefault()}
        onCloseAutoFocus={(event) => event.preventDefault()}
        onInteractOutside={(event) => isField(event.target) && event.preventDefault()}
        className={cn(surfaceStyle, "max-h-72 w-(--radix-popover-trigger-width) min-w-64 overflow-y-auto p-1")}
      >
        <div id={id} role="listbox" aria-label="Values">
          {grouped(options).map((group) => (
            <Group key={group.options[0]?.[1].code} name={group.name} nodeType={group.nodeType}>
              {group.options.map(([index, option]) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
                // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
                <div
                  key={option.code}
                  id={`${id}${index}`}
                  role="option"
                  aria-selected={index === active}
                  onClick={() => onTake(option)}
                  onPointerMove={() => index !== active && onActive(index)}
                  className={cn(itemStyle, "cursor-pointer py-1", group.name !== undefined && "pl-9", index === active && "bg-hover")}
                >
                  {group.name === undefined && <Mark nodeType={option.nodeType} />}
                  <span className="flex min-w-0 flex-1 flex-col">
                    <span className="flex items-baseline gap-2">
                      <span className="min-w-0 truncate font-mono text-12">{option.code}</span>
                      {option.kind && <span className="ml-auto shrink-0 text-12 text-ink-faint">{option.kind.slice(0, 40)}</span>}
                    </span>
                    {option.hint !== null && <span className="truncate text-12 text-ink-soft">{option.hint.slice(0, 80)}</span>}
                  </span>
                </div>
              ))}
            </Group>
          ))}
        </div>
      </Radix.Content>
    </Radix.Portal>
  );
}

const Mark = ({ nodeType }: { nodeType: string }) =>
  nodeType ? <NodeIcon type={nodeType} className="size-5" /> : <Hash aria-hidden className="size-5! p-1" />;

function Group({ name, nodeType, children }: { name: string | undefined; nodeType: string; children: ReactNode }) {
  if (name === undefined) return children;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list of options
    <div role="group" aria-label={name}>
      <div aria-hidden className="flex items-center gap-2 px-2 pt-1.5 pb-0.5 font-semibold text-12 text-ink-soft [&>svg]:text-ink-faint">
        <Mark nodeType={nodeType} />
        <span className="truncate">{name}</span>
      </div>
      {children}
    </div>
  );
}
