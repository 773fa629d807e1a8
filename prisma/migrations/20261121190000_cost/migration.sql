-- AlterTable
ALTER TABLE "llm_keys" ADD COLUMN     "prices" JSONB NOT NULL DEFAULT '[]';

-- Of runs that are there already nothing is known of their cost, so they get none. New ones begin with 0.
-- AlterTable
ALTER TABLE "executions" ADD COLUMN     "cost" DECIMAL(24,12);
ALTER TABLE "executions" ALTER COLUMN "cost" SET DEFAULT 0;
ALTER TABLE "executions" ADD COLUMN     "cost_is_partial" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "node_runs" ADD COLUMN     "cost" DECIMAL(24,12);

-- CreateTable
CREATE TABLE "usage_calls" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "source" TEXT NOT NULL,
    "workflow_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "cost" DECIMAL(24,12),

    CONSTRAINT "usage_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_days" (
    "project_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "source" TEXT NOT NULL,
    "workflow_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "calls" INTEGER NOT NULL,
    "calls_without_price" INTEGER NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "cost" DECIMAL(24,12) NOT NULL,

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("project_id","day","source","workflow_id","agent_id","provider","model")
);

-- CreateIndex
CREATE INDEX "usage_calls_project_id_day_idx" ON "usage_calls"("project_id", "day");

-- AddForeignKey
ALTER TABLE "usage_calls" ADD CONSTRAINT "usage_calls_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
