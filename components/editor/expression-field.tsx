"use client";

import { Braces, Hash } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react";
import { useEditorStore } from "#components/canvas/canvas-context.tsx";
import { type ExpressionOption, expressionOptions, insertExpression, openExpression } from "#components/editor/expression-options.ts";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { NodeIcon } from "#components/nodes/node-icon.tsx";
import { useRunStore } from "#components/runs/run-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { itemStyle, surfaceStyle } from "#components/ui/menu-style.ts";
import { Textarea } from "#components/ui/textarea.tsx";

export interface ExpressionFieldProps {
  nodeId: string;
  value: string;
  onChange: (value: string) => void;
  isReadOnly: boolean;
  rows?: number;
  placeholder?: string;
}

/** A text that may hold {{expressions}}: "{{" or "/" lists what is upstream; arrow keys and Enter, or a click, put it in. */
export function ExpressionField({ nodeId, value, onChange, isReadOnly, rows = 3, placeholder }: ExpressionFieldProps) {
  const editor = useEditorStore();
  const run = useRunStore();
  const agents = useAgentNames();
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const area = () => box.current?.querySelector("textarea");
  const caretAfter = useRef<number | null>(null);
  const [list, setList] = useState<{ start: number; end: number; options: ExpressionOption[]; active: number } | null>(null);

  useLayoutEffect(() => {
    if (caretAfter.current === null) return;
    area()?.setSelectionRange(caretAfter.current, caretAfter.current);
    caretAfter.current = null;
  });

  const all = () =>
    expressionOptions(editor.getState().graph(), nodeId, { agentName: (id) => agents.agentName(id) ?? undefined }, run.getState().picture);
  const look = (text: string, caret: number) => {
    const open = openExpression(text, caret);
    if (!open) return setList(null);
    const wanted = open.query.trim().toLowerCase();
    const options = all().filter(({ expression }) => expression.toLowerCase().includes(wanted));
    setList(options.length ? { start: open.start, end: caret, options, active: 0 } : null);
  };
  const take = (option: ExpressionOption | undefined) => {
    if (!option || !list) return;
    const next = insertExpression(value, list.start, list.end, option.expression);
    caretAfter.current = next.caret;
    setList(null);
    onChange(next.text);
    area()?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!list) return;
    const count = list.options.length;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined) setList({ ...list, active: (list.active + move + count) % count });
    else if (event.key === "Enter" || event.key === "Tab") take(list.options[list.active]);
    else if (event.key === "Escape") setList(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const openAtCaret = () => {
    const caret = area()?.selectionEnd ?? value.length;
    setList({ start: caret, end: caret, options: all(), active: 0 });
    area()?.focus();
  };
  return (
    <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && setList(null)}>
      <Radix.Anchor ref={box} className="relative">
        <Textarea
          rows={rows}
          value={value}
          readOnly={isReadOnly}
          placeholder={placeholder}
          spellCheck={false}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          {...(list && { "aria-controls": listId, "aria-activedescendant": `${listId}${list.active}` })}
          className="pr-8 text-12"
          onKeyDown={onKeyDown}
          onChange={(event) => {
            onChange(event.target.value);
            look(event.target.value, event.target.selectionEnd);
          }}
          onClick={(event) => look(value, event.currentTarget.selectionEnd)}
        />
        {!isReadOnly && (
          <IconButton label="Insert a value" icon={<Braces />} size="sm" className="absolute top-1 right-1" onClick={openAtCaret} />
        )}
      </Radix.Anchor>
      <Radix.Portal>
        <Radix.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Values"
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onInteractOutside={(event) => area() === event.target && event.preventDefault()}
          className={cn(surfaceStyle, "max-h-64 w-(--radix-popover-trigger-width) min-w-64 overflow-y-auto p-1")}
        >
          <div id={listId} role="listbox" aria-label="Values">
            {list?.options.map((option, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
              <div
                key={option.expression}
                id={`${listId}${index}`}
                role="option"
                aria-selected={index === list.active}
                onClick={() => take(option)}
                onPointerMove={() => index !== list.active && setList({ ...list, active: index })}
                className={cn(itemStyle, "cursor-pointer py-1", index === list.active && "bg-hover")}
              >
                {option.nodeType ? <NodeIcon type={option.nodeType} className="size-5" /> : <Hash aria-hidden className="size-5! p-1" />}
                <span className="flex min-w-0 flex-col">
                  <span className="truncate font-mono text-12">{option.expression}</span>
                  {option.lastValue !== null && <span className="truncate text-11 text-ink-soft">{option.lastValue.slice(0, 80)}</span>}
                </span>
              </div>
            ))}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
