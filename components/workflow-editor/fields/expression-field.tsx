"use client";

import { WandSparkles } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { type MarkedPiece, markedPieces } from "#components/workflow-editor/fields/expression-marks.ts";
import { insertExpression, openExpression } from "#components/workflow-editor/fields/expression-options.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { ValueField } from "#components/workflow-editor/fields/value-field.tsx";
import { usePreview, ValuePreview } from "#components/workflow-editor/fields/value-preview.tsx";

const COLOURS: Record<MarkedPiece["kind"], string> = {
  text: "text-ink",
  reference: "rounded-xs bg-thread-soft text-thread-text",
  fault: "rounded-xs bg-failed-soft text-failed underline decoration-failed decoration-wavy underline-offset-3",
};

export interface ExpressionFieldProps {
  value: string;
  onChange: (value: string) => void;
  isReadOnly: boolean;
  rows?: number;
  maxLength?: number | undefined;
  /** What keeps the node from running, of this field: what is said of an expression underlines it. */
  problems: readonly string[];
}

/**
 * A text that may hold {{expressions}}: "{{" or "/" lists what is upstream with the last run's values; arrow keys and Enter, or a
 * click, put it in. What cannot be read is underlined, and what the text came to with the last run's values stands below.
 */
export function ExpressionField({ value, onChange, isReadOnly, rows = 3, maxLength, problems }: ExpressionFieldProps) {
  const reads = usePanelReads();
  const preview = usePreview(value);
  const pieces = markedPieces(value, problems, reads.options);
  const fixes = [...new Map(pieces.flatMap(({ text, fix }) => (fix === null ? [] : [[text, fix] as const])))];
  return (
    <div className="flex flex-col gap-1.5">
      <ValueField
        {...{ value, onChange, isReadOnly, rows, maxLength }}
        takes="expression"
        all={() =>
          reads
            .options()
            .map(({ expression, name, nodeType, kind, lastValue }) => ({ code: expression, group: name, nodeType, kind, hint: lastValue }))
        }
        openPart={openExpression}
        insert={insertExpression}
        opensOnClick
        colours={pieces.map(({ kind, text }, index) => (
          <span key={`${index.toString()}`} className={COLOURS[kind]}>
            {text}
          </span>
        ))}
      />
      {!isReadOnly &&
        fixes.map(([wrong, fix]) => (
          <Button
            key={wrong}
            size="sm"
            icon={<WandSparkles />}
            className="h-auto min-h-7 self-start whitespace-normal py-1 text-left"
            onClick={() => onChange(value.replaceAll(wrong, fix))}
          >
            <span>
              Did you mean <code className="break-all font-mono text-11 text-thread-text">{fix}</code>?
            </span>
          </Button>
        ))}
      {preview && <ValuePreview parts={preview} />}
    </div>
  );
}
