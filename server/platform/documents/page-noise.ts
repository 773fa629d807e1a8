const NOISE = "script,style,noscript,template,svg,iframe,object,embed,[hidden],[aria-hidden=true]";
const HEADINGS = ":is(h1,h2,h3,h4,h5,h6,summary,dt,[role=heading])";
const CONTROLS = "button,input,select";

function rename(element: Element, name: string): void {
  const other = element.ownerDocument.createElement(name);
  while (element.firstChild) other.append(element.firstChild);
  element.replaceWith(other);
}

const lengthOf = (element: Element | null) => element?.textContent?.replace(/\s+/g, "").length ?? 0;

/**
 * Removes what is no text for readers: scripts, hidden parts, forms and their controls. Words of buttons in headings stay, and so does a
 * form that holds most of the text, as pages of ASP.NET and SharePoint have it.
 * @param also selectors of more elements to remove
 */
export function removeNoise(document: Document, also: string): void {
  for (const node of document.querySelectorAll(`${NOISE},${also}`)) node.remove();
  // Readability drops buttons and forms as well, so these get other names.
  for (const button of document.querySelectorAll(`${HEADINGS} button, button:has(${HEADINGS})`)) rename(button, "span");
  for (const control of document.querySelectorAll(CONTROLS)) control.remove();

  const whole = lengthOf(document.body);
  for (const form of document.querySelectorAll("form"))
    if (form.matches(`${HEADINGS} form`) || lengthOf(form) * 2 > whole) rename(form, "div");
    else form.remove();
}
