"use client";

import { Braces } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { useId, useRef } from "react";
import { ColouredTextarea } from "#components/editor/coloured-textarea.tsx";
import { ConditionTrialChip } from "#components/editor/condition-trial.tsx";
import { usePanelReads } from "#components/editor/panel-reads.tsx";
import { pythonOptions } from "#components/editor/python-options.ts";
import { insertCode, openName, pythonTokens, type TokenKind } from "#components/editor/python-text.ts";
import { useValueList } from "#components/editor/use-value-list.ts";
import { ValueList } from "#components/editor/value-list.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";

const COLOURS: Record<TokenKind, string> = {
  text: "text-ink",
  string: "text-role-output",
  comment: "text-ink-faint",
  keyword: "text-role-logic",
  number: "text-role-interface",
  known: "text-thread-text",
};

export interface PythonFieldProps {
  value: string;
  maxLength: number | undefined;
  isReadOnly: boolean;
  /** True while something keeps the condition from running. */
  hasProblem: boolean;
  onChange: (value: string) => void;
}

/** A Python condition: coloured, with the variables and the nodes upstream to choose from, and what it comes to on the last run. */
export function PythonField({ value, maxLength, isReadOnly, hasProblem, onChange }: PythonFieldProps) {
  const { readable, run } = usePanelReads();
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValueList({ box, value, onChange, all: () => pythonOptions(readable, run), openPart: openName, insert: insertCode });
  const { list } = values;
  return (
    <div className="flex flex-col gap-1.5">
      <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && values.close()}>
        <Radix.Anchor ref={box}>
          <ColouredTextarea
            isCode
            rows={4}
            value={value}
            readOnly={isReadOnly}
            maxLength={maxLength}
            placeholder={'"yes" in output.lower()'}
            data-takes="python"
            aria-autocomplete="list"
            aria-haspopup="listbox"
            {...(list && { "aria-controls": listId, "aria-activedescendant": `${listId}${list.active}` })}
            colours={pythonTokens(value).map((token, index) => (
              <span key={`${index.toString()}`} className={COLOURS[token.kind]}>
                {token.text}
              </span>
            ))}
            action={
              !isReadOnly && (
                <IconButton
                  label="Insert a value"
                  icon={<Braces />}
                  size="sm"
                  className="absolute top-1 right-1"
                  onClick={values.openAtCaret}
                />
              )
            }
            onKeyDown={values.onKeyDown}
            onChange={values.onType}
            onBlur={values.onBlur}
          />
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
      {!hasProblem && value.trim() !== "" && <ConditionTrialChip condition={value} />}
    </div>
  );
}
