"use client";

import { Braces } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { useId, useRef } from "react";
import { useEditorStore } from "#components/canvas/canvas-context.tsx";
import { pythonOptions } from "#components/editor/python-options.ts";
import { insertCode, openName, pythonTokens, type TokenKind } from "#components/editor/python-text.ts";
import { useValueList } from "#components/editor/use-value-list.ts";
import { ValueList } from "#components/editor/value-list.tsx";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { useRunStore } from "#components/runs/run-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";

const COLOURS: Record<TokenKind, string> = {
  text: "text-ink",
  string: "text-role-output",
  comment: "text-ink-faint",
  keyword: "text-role-logic",
  number: "text-role-interface",
  known: "text-thread-text",
};

/** Both layers set the text alike, so that the colours lie under the letters. */
const TEXT = "whitespace-pre-wrap break-words py-1.5 pr-9 pl-2.5 font-mono text-12 [tab-size:4] pointer-coarse:text-16";

export interface PythonFieldProps {
  nodeId: string;
  value: string;
  maxLength: number | undefined;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

/** A Python condition: coloured, with the variables and the nodes upstream to choose from. */
export function PythonField({ nodeId, value, maxLength, isReadOnly, onChange }: PythonFieldProps) {
  const editor = useEditorStore();
  const run = useRunStore();
  const agents = useAgentNames();
  const field = useFieldControl();
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValueList({
    box,
    value,
    onChange,
    all: () =>
      pythonOptions(editor.getState().graph(), nodeId, { agentName: (id) => agents.agentName(id) ?? undefined }, run.getState().picture),
    openPart: openName,
    insert: insertCode,
  });
  const { list } = values;
  return (
    <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && values.close()}>
      <Radix.Anchor
        ref={box}
        className={cn(
          controlStyle,
          "relative grid max-h-80 min-h-21 overflow-y-auto focus-within:outline-2",
          field["aria-invalid"]
            ? "border-failed focus-within:outline-failed/35"
            : "focus-within:border-thread focus-within:outline-thread/35",
          isReadOnly && "bg-sunken",
        )}
      >
        <pre aria-hidden className={cn(TEXT, "pointer-events-none col-start-1 row-start-1 m-0 min-w-0")}>
          {pythonTokens(value).map((token, index) => (
            <span key={`${index.toString()}`} className={COLOURS[token.kind]}>
              {token.text}
            </span>
          ))}
          {/* A last empty line has a height only with something on it. */}
          {"\n"}
        </pre>
        <textarea
          {...field}
          value={value}
          readOnly={isReadOnly}
          maxLength={maxLength}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          placeholder={'"yes" in output.lower()'}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          {...(list && { "aria-controls": listId, "aria-activedescendant": `${listId}${list.active}` })}
          className={cn(
            TEXT,
            "field-sizing-content col-start-1 row-start-1 w-full min-w-0 resize-none overflow-hidden bg-transparent text-transparent caret-ink outline-none selection:text-ink",
          )}
          onKeyDown={values.onKeyDown}
          onChange={(event) => {
            onChange(event.target.value);
            values.look(event.target.value, event.target.selectionEnd);
          }}
        />
        {!isReadOnly && (
          <IconButton label="Insert a value" icon={<Braces />} size="sm" className="absolute top-1 right-1" onClick={values.openAtCaret} />
        )}
      </Radix.Anchor>
      <ValueList
        id={listId}
        options={list?.options ?? []}
        active={list?.active ?? 0}
        onActive={values.setActive}
        onTake={values.take}
        isField={(target) => box.current?.querySelector("textarea") === target}
      />
    </Radix.Root>
  );
}
