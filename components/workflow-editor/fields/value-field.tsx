"use client";

import { Braces } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type ChangeEvent, type ComponentProps, type KeyboardEvent, type ReactNode, type RefObject, useId, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { controlStyle } from "#components/ui/styles.ts";
import { ValueList, type ValueOption } from "#components/workflow-editor/fields/value-list.tsx";
import { filterByText } from "#server/shared/fold-text.ts";
import { pythonString } from "#server/workflow/python-string.ts";

export interface ValueFieldProps extends Omit<ValueListOptions, "box"> {
  isReadOnly: boolean;
  rows: number;
  maxLength?: number | undefined;
  placeholder?: string;
  isCode?: boolean;
  /** Whether `colours` are lines, each a block with its number before it. */
  isNumbered?: boolean;
  /** What a drop of a value writes here; left out, nothing that is read of other nodes. */
  takes?: "expression" | "python";
  /** The text in colours, as it lies under the caret. */
  colours: ReactNode;
  /** Whether a click into the beginning of a value opens the list. */
  opensOnClick?: boolean;
  /** Keys that the list of values has no use for. */
  onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
}

/** A coloured text with a list of values: by typing the beginning of one, or by the button; arrow keys and Enter put one in. */
export function ValueField(props: ValueFieldProps) {
  const { isReadOnly, rows, maxLength, placeholder, isCode, isNumbered, takes, colours, opensOnClick, onKeyDown, ...options } = props;
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValueList({ box, ...options });
  const { list } = values;
  return (
    <Radix.Root open={list !== null} onOpenChange={(isOpen) => !isOpen && values.close()}>
      <Radix.Anchor ref={box}>
        <ColouredTextarea
          key={values.element}
          rows={rows}
          value={options.value}
          readOnly={isReadOnly}
          maxLength={maxLength}
          {...(isCode && { isCode })}
          {...(isNumbered && { isNumbered })}
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
          onKeyDown={(event) => {
            values.onKeyDown(event);
            if (!event.defaultPrevented) onKeyDown?.(event);
          }}
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

/** Both layers set the text alike, so that the colours lie under the letters. */
const TEXT = "whitespace-pre-wrap break-words py-1.5 pr-9 text-12 [tab-size:4] pointer-coarse:text-16";

export interface ColouredTextareaProps extends Omit<ComponentProps<"textarea">, "ref" | "value" | "onChange" | "children"> {
  value: string;
  onChange: (event: ChangeEvent<HTMLTextAreaElement>) => void;
  /** Lines that it is high at least. */
  rows: number;
  /** The text in coloured pieces, in the same letters. */
  colours: ReactNode;
  isCode?: boolean;
  /** See ValueFieldProps. */
  isNumbered?: boolean;
  /** At its top right. */
  action?: ReactNode;
}

/** A text field with colours: the text as it is typed is transparent and lies over the same text in colour. Grows with its text. */
export function ColouredTextarea({ value, rows, colours, isCode = false, isNumbered = false, ...others }: ColouredTextareaProps) {
  const { action, readOnly, className, ...rest } = others;
  const field = useFieldControl();
  const text = cn(TEXT, isNumbered ? "pl-10" : "pl-2.5", isCode && "font-mono [font-variant-ligatures:none]");
  return (
    <div
      className={cn(
        controlStyle,
        "relative grid max-h-120 resize-y overflow-y-auto focus-within:outline-2",
        field["aria-invalid"]
          ? "border-failed focus-within:outline-failed/35"
          : "focus-within:border-thread focus-within:outline-thread/35",
        readOnly && "bg-sunken",
        className,
      )}
      // A line is 18 px, padding and border are 14.
      style={{ minHeight: rows * 18 + 14 }}
    >
      <div aria-hidden className={cn(text, "pointer-events-none col-start-1 row-start-1 min-w-0 [counter-reset:line]")}>
        {colours}
        {/* A last empty line has a height only with something on it. */}
        {!isNumbered && "\n"}
      </div>
      <textarea
        {...field}
        {...rest}
        value={value}
        readOnly={readOnly}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        className={cn(
          text,
          "field-sizing-content col-start-1 row-start-1 w-full min-w-0 resize-none overflow-hidden bg-transparent text-transparent caret-ink outline-none selection:text-ink",
        )}
      />
      {action}
    </div>
  );
}

/**
 * Puts a text where the caret of a field is, or in place of a part of its text, as typing would. A value that a script sets is not
 * in the browser's own history: an undo after it would take out other characters than were typed.
 */
export function insertAsTyped(area: HTMLTextAreaElement, text: string, start = area.selectionStart, end = area.selectionEnd): void {
  area.focus();
  area.setSelectionRange(start, end);
  // Half a value would read nothing: that a text has become too long is said of it.
  const { maxLength } = area;
  area.removeAttribute("maxlength");
  document.execCommand("insertText", false, text);
  if (maxLength >= 0) area.maxLength = maxLength;
}

/** True for what came as a whole, by a drop or from outside of the field: it is not the beginning of something. */
const isWhole = ({ inputType, data }: InputEvent) =>
  inputType === "insertFromDrop" || (inputType === "insertText" && (data ?? "").length > 1);

interface OpenPart {
  start: number;
  query: string;
}

export interface ValueListOptions {
  /** Around the text field. */
  box: RefObject<HTMLElement | null>;
  value: string;
  onChange: (value: string) => void;
  /** Everything that can be put in; asked when the list opens. */
  all: () => ValueOption[];
  /** The beginning of a value before the caret. */
  openPart: (text: string, caret: number) => OpenPart | null;
  /** Whether Enter begins a line while no option was chosen by the arrows: what is typed is mostly whole already. */
  isEnterFree?: boolean;
  insert: (text: string, start: number, caret: number, code: string) => { text: string; caret: number };
}

/** The list of values of a text field: opens while one types the beginning of one, arrow keys and Enter put one in. */
export function useValueList({ box, value, onChange, all, openPart, isEnterFree = false, insert }: ValueListOptions) {
  const area = () => box.current?.querySelector("textarea");
  // An undo by the browser goes by where something was typed. A text that came from elsewhere, e.g. by an undo on the canvas, gets
  // a new element, which has no such history.
  const [typed, setTyped] = useState({ text: value, element: 0 });
  if (typed.text !== value) setTyped({ text: value, element: typed.element + 1 });
  // What is offered is worked out anew at each drawing: values may arrive while the list is open.
  const [place, setPlace] = useState<{ start: number; end: number; wanted: string; active: number | null } | null>(null);
  const written = place ? value.slice(place.start, place.end) : "";
  const found = place ? filterByText(all(), place.wanted, ({ code }) => code) : [];
  // A value that stands there whole is not offered alone; beside others it comes first, so that Enter leaves it as it was typed.
  const offered = found.every(({ code }) => code === written) ? [] : found;
  const whole = [written, place?.wanted, `node_outputs[${pythonString(place?.wanted ?? "")}]`];
  const first = Math.max(
    0,
    offered.findIndex(({ code }) => whole.includes(code)),
  );
  const list =
    place && offered.length > 0 ? { ...place, options: offered, active: Math.min(place.active ?? first, offered.length - 1) } : null;

  const take = (option: ValueOption | undefined) => {
    const field = area();
    if (!field || !option || !list) return;
    if (option.code !== written) {
      const next = insert(field.value, list.start, list.end, option.code);
      const kept = next.text.length - next.caret;
      insertAsTyped(field, next.text.slice(list.start, next.caret), list.start, field.value.length - kept);
    }
    setPlace(null);
  };
  /** Opens the list where a value begins before the caret, and closes it elsewhere. */
  const look = (text: string, caret: number) => {
    const open = openPart(text, caret);
    setPlace(open && { start: open.start, end: caret, wanted: open.query.trim(), active: null });
  };
  return {
    list,
    take,
    look,
    element: typed.element,
    onType(event: ChangeEvent<HTMLTextAreaElement>) {
      const { value: text, selectionEnd } = event.target;
      setTyped({ ...typed, text });
      onChange(text);
      if (isWhole(event.nativeEvent as InputEvent)) setPlace(null);
      else look(text, selectionEnd);
    },
    close: () => setPlace(null),
    setActive: (active: number) => place && setPlace({ ...place, active }),
    /** Elsewhere, a beginning without an end is no longer looked at; an open list closes by itself. */
    onBlur: () => list === null && setPlace(null),
    openAtCaret() {
      const caret = area()?.selectionEnd ?? value.length;
      setPlace({ start: caret, end: caret, wanted: "", active: null });
      area()?.focus();
    },
    onKeyDown(event: KeyboardEvent) {
      if (!list || isComposing(event)) return;
      if (event.key === "Enter" && isEnterFree && place?.active === null) return setPlace(null);
      const count = list.options.length;
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move !== undefined && place) setPlace({ ...place, active: (list.active + move + count) % count });
      else if (event.key === "Enter" || event.key === "Tab") take(list.options[list.active]);
      else if (event.key === "Escape") setPlace(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}
