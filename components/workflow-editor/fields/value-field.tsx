"use client";

import { Braces } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type ReactNode, useId, useRef } from "react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { ColouredTextarea } from "#components/workflow-editor/fields/coloured-textarea.tsx";
import { useValueList, type ValueListOptions } from "#components/workflow-editor/fields/use-value-list.ts";
import { ValueList } from "#components/workflow-editor/fields/value-list.tsx";

export interface ValueFieldProps extends Omit<ValueListOptions, "box"> {
  isReadOnly: boolean;
  rows: number;
  maxLength?: number | undefined;
  placeholder?: string;
  isCode?: boolean;
  /** What a drop of a value writes here. */
  takes: "expression" | "python";
  /** The text in colours, as it lies under the caret. */
  colours: ReactNode;
  /** Whether a click into the beginning of a value opens the list. */
  opensOnClick?: boolean;
}

/** A coloured text with a list of values: by typing the beginning of one, or by the button; arrow keys and Enter put one in. */
export function ValueField(props: ValueFieldProps) {
  const { isReadOnly, rows, maxLength, placeholder, isCode, takes, colours, opensOnClick, ...options } = props;
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValueList({ box, ...options });
  const { list } = values;
  return (
    <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && values.close()}>
      <Radix.Anchor ref={box}>
        <ColouredTextarea
          rows={rows}
          value={options.value}
          readOnly={isReadOnly}
          maxLength={maxLength}
          {...(isCode && { isCode })}
          {...(placeholder !== undefined && { placeholder })}
          data-takes={takes}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          {...(list && { "aria-controls": listId, "aria-activedescendant": `${listId}${list.active}` })}
          colours={colours}
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
          {...(opensOnClick && {
            onClick: (event) => values.look(options.value, event.currentTarget.selectionEnd),
          })}
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
  );
}
