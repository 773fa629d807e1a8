"use client";

import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { useStore } from "zustand";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { useLastRunStore } from "#components/workflow-editor/fields/panel-reads.tsx";
import { COLOURS } from "#components/workflow-editor/fields/python-field.tsx";
import {
  CODE_MODULES,
  indentBelow,
  indented,
  insertCode,
  type PythonToken,
  pythonTokens,
  tokenLines,
  unfinishedName,
} from "#components/workflow-editor/fields/python-text.ts";
import { insertAsTyped, ValueField } from "#components/workflow-editor/fields/value-field.tsx";

export interface CodeFieldProps {
  nodeId: string;
  value: string;
  /** Names that the code has besides what every code has. */
  inputs: readonly string[];
  /** What keeps the node from running: where a sentence names a line, that line is marked. */
  problems: readonly string[];
  maxLength: number | undefined;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

const LINE = /^Line (\d+): /;

/** Where this very code failed in the last run, as the run says it. */
const useFailure = (nodeId: string, code: string): string | null =>
  useStore(useLastRunStore(), ({ snapshot, view }) => {
    const ran = view?.graph.nodes.find(({ id }) => id === nodeId)?.data.code;
    return ran === code ? (snapshot?.nodes[nodeId]?.error ?? null) : null;
  });

/** Python of several lines: numbered and coloured, the line of a fault marked. Tab indents; after Esc it leaves the field. */
export function CodeField({ nodeId, value, inputs, problems, maxLength, isReadOnly, onChange }: CodeFieldProps) {
  const known = [...inputs, ...CODE_MODULES];
  const failure = useFailure(nodeId, value);
  const faulty = new Set([...problems, failure ?? ""].flatMap((problem) => LINE.exec(problem)?.[1] ?? []).map(Number));
  const isLeaving = useRef(false);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) return;
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    const leaves = isLeaving.current;
    isLeaving.current = key === "Escape" || (leaves && key === "Shift");
    if (isReadOnly || ctrlKey || metaKey || altKey) return;
    const area = event.currentTarget;
    const { selectionStart, selectionEnd } = area;
    if (key === "Enter" && !shiftKey) {
      event.preventDefault();
      insertAsTyped(area, `\n${indentBelow(area.value.slice(0, selectionStart))}`);
    } else if (key === "Tab" && !leaves) {
      event.preventDefault();
      const edit = indented(area.value, selectionStart, selectionEnd, shiftKey);
      if (edit === null) return;
      insertAsTyped(area, edit.text, edit.start, edit.end);
      area.setSelectionRange(edit.selection[0], edit.selection[1]);
    }
  };
  return (
    <ValueField
      {...{ value, onChange, isReadOnly, maxLength, onKeyDown }}
      rows={12}
      isCode
      isNumbered
      placeholder={"total = sum(json.loads(amounts))\ntotal * 1.2"}
      all={() => [
        ...inputs.map((code) => ({ code, nodeType: "", hint: "An input, as text" })),
        ...CODE_MODULES.map((code) => ({ code, nodeType: "", hint: "A module of Python" })),
      ]}
      openPart={unfinishedName}
      isEnterFree
      insert={insertCode}
      colours={tokenLines(pythonTokens(value, known)).map((line, index) => (
        <Line key={`${index.toString()}`} isFaulty={faulty.has(index + 1)}>
          {line.map((token, position) => (
            <Token key={`${position.toString()}`} {...token} />
          ))}
        </Line>
      ))}
    />
  );
}

const Token = ({ kind, text }: PythonToken) => <span className={COLOURS[kind]}>{text}</span>;

/** A line with its number beside it; an empty one is as high as any. */
const Line = ({ isFaulty, children }: { isFaulty: boolean; children: ReactNode }) => (
  <span
    {...(isFaulty && { "data-fault": true })}
    className={cn(
      "relative -mr-9 -ml-10 block pr-9 pl-10 [counter-increment:line] before:absolute before:left-0 before:w-7 before:text-right before:text-ink-faint before:content-[counter(line)]",
      isFaulty && "bg-failed-soft underline decoration-failed decoration-wavy underline-offset-3 before:font-semibold before:text-failed",
    )}
  >
    {children}
    {"\n"}
  </span>
);
