"use client";

import { Braces } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { useId, useRef } from "react";
import { useEditorStore } from "#components/canvas/canvas-context.tsx";
import { expressionOptions, insertExpression, openExpression } from "#components/editor/expression-options.ts";
import { useCredentialNames } from "#components/editor/use-credential-names.ts";
import { useValueList } from "#components/editor/use-value-list.ts";
import { ValueList } from "#components/editor/value-list.tsx";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { useRunStore } from "#components/runs/run-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
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
  const credentialNames = useCredentialNames();
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValueList({
    box,
    value,
    onChange,
    all: () =>
      expressionOptions(
        editor.getState().graph(),
        nodeId,
        { agentName: (id) => agents.agentName(id) ?? undefined, credentialNames },
        run.getState().picture,
      ).map(({ expression, nodeType, lastValue }) => ({ code: expression, nodeType, hint: lastValue })),
    openPart: openExpression,
    insert: insertExpression,
  });
  const { list } = values;
  return (
    <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && values.close()}>
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
          onKeyDown={values.onKeyDown}
          onChange={(event) => {
            onChange(event.target.value);
            values.look(event.target.value, event.target.selectionEnd);
          }}
          onClick={(event) => values.look(value, event.currentTarget.selectionEnd)}
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
