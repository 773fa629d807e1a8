import { testFuzz } from "#server/testing/api/fuzz.ts";

testFuzz(2, 2);
