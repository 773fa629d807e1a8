import { testFuzz } from "#server/testing/api/fuzz.ts";

testFuzz(1, 2);
