import { createHmac } from "node:crypto";

const { WEBHOOK_URL = "", WEBHOOK_SECRET = "" } = process.env;
const body = JSON.stringify({ issue: { title: "It is broken" } });
const signature = createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
const response = await fetch(WEBHOOK_URL, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-SERVICE-Signature": `sha256=${signature}` },
  body, // exactly the text that was signed
});
console.log(await response.text());
