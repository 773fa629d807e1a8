import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { server } from "#app/server.ts";

type Context = { params: Promise<{ nextauth: string[] }> };

async function handle(request: NextRequest, context: Context): Promise<Response> {
  const path = (await context.params).nextauth;
  // Here browsers would write into our log, anybody's and whatever they like.
  if (path[0] === "_log") return new Response(null, { status: 404 });
  const { authOptions, serviceAnswerPage } = await server();
  const page = serviceAnswerPage(path, request.nextUrl.searchParams);
  if (page) return new Response(null, { status: 302, headers: { location: page, "cache-control": "no-store" } });
  const answer: Response = await NextAuth(request as never, context as never, authOptions(request.headers));
  answer.headers.set("cache-control", "no-store");
  return answer;
}

export { handle as GET, handle as POST };
