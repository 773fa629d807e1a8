"urgent" in output.lower()
len(json.loads(output)["items"]) > 3
re.search(r"\binvoice\b", trigger_output) is not None
node_outputs["Scout"].startswith("No") and output != ""
