-- What widgets read of the runs of workflows, with the values of the runs that have ended.
CREATE TABLE "readings" (
    "id" SERIAL NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "output_label" TEXT NOT NULL DEFAULT '',
    "path" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "done" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER,
    "before_at" TIMESTAMPTZ(3),
    "before_id" UUID,
    "filled_at" TIMESTAMPTZ(3),

    CONSTRAINT "readings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "canvas_readings" (
    "canvas_id" UUID NOT NULL,
    "reading_id" INTEGER NOT NULL,

    CONSTRAINT "canvas_readings_pkey" PRIMARY KEY ("canvas_id","reading_id")
);

CREATE TABLE "reading_values" (
    "execution_id" UUID NOT NULL,
    "reading_id" INTEGER NOT NULL,
    "completed_at" TIMESTAMPTZ(3) NOT NULL,
    "number" DOUBLE PRECISION,
    "json" TEXT,

    CONSTRAINT "reading_values_pkey" PRIMARY KEY ("execution_id","reading_id")
);

CREATE TABLE "reading_hours" (
    "reading_id" INTEGER NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "is_fresh" BOOLEAN NOT NULL DEFAULT false,
    "count" INTEGER NOT NULL DEFAULT 0,
    "others" INTEGER NOT NULL DEFAULT 0,
    "sum" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "min" DOUBLE PRECISION,
    "min_at" TIMESTAMPTZ(3),
    "min_id" UUID,
    "max" DOUBLE PRECISION,
    "max_at" TIMESTAMPTZ(3),
    "max_id" UUID,
    "last" DOUBLE PRECISION,
    "last_at" TIMESTAMPTZ(3),
    "last_id" UUID,

    CONSTRAINT "reading_hours_pkey" PRIMARY KEY ("reading_id","hour")
);

CREATE TABLE "reading_queue" (
    "execution_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reading_queue_pkey" PRIMARY KEY ("execution_id")
);

CREATE INDEX "readings_project_id_idx" ON "readings"("project_id");

CREATE INDEX "readings_unfilled_idx" ON "readings"("created_at") WHERE (filled_at IS NULL);

CREATE UNIQUE INDEX "readings_workflow_id_key_key" ON "readings"("workflow_id", "key");

CREATE INDEX "canvas_readings_reading_id_idx" ON "canvas_readings"("reading_id");

CREATE INDEX "reading_values_reading_id_completed_at_idx" ON "reading_values"("reading_id", "completed_at" DESC);

CREATE INDEX "reading_values_reading_id_number_completed_at_idx" ON "reading_values"("reading_id", "number", "completed_at");

CREATE INDEX "reading_hours_marked_idx" ON "reading_hours"("hour") WHERE (NOT is_fresh);

ALTER TABLE "readings" ADD CONSTRAINT "readings_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "readings" ADD CONSTRAINT "readings_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "canvas_readings" ADD CONSTRAINT "canvas_readings_canvas_id_fkey" FOREIGN KEY ("canvas_id") REFERENCES "canvases"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "canvas_readings" ADD CONSTRAINT "canvas_readings_reading_id_fkey" FOREIGN KEY ("reading_id") REFERENCES "readings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "reading_values" ADD CONSTRAINT "reading_values_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "reading_values" ADD CONSTRAINT "reading_values_reading_id_fkey" FOREIGN KEY ("reading_id") REFERENCES "readings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "reading_hours" ADD CONSTRAINT "reading_hours_reading_id_fkey" FOREIGN KEY ("reading_id") REFERENCES "readings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Widgets of before show latest runs: they only have to hear that one has ended.
INSERT INTO "readings" ("project_id", "workflow_id", "path", "key", "filled_at")
SELECT DISTINCT w."project_id", w."id", '', rtrim(translate(encode(sha256(convert_to('["",""]', 'UTF8')), 'base64'), '+/', '-_'), '='), now()
FROM "canvases" c CROSS JOIN LATERAL jsonb_array_elements(c."widgets") AS widget
JOIN "workflows" w ON w."id"::text = widget->>'workflow_id' AND w."project_id" = c."project_id";

INSERT INTO "canvas_readings" ("canvas_id", "reading_id")
SELECT DISTINCT c."id", r."id"
FROM "canvases" c CROSS JOIN LATERAL jsonb_array_elements(c."widgets") AS widget
JOIN "readings" r ON r."workflow_id"::text = widget->>'workflow_id' AND r."project_id" = c."project_id";
