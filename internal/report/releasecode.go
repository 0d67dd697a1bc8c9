package report

import "github.com/toolmark/toolmark"

// releaseAdvice is Advice for the codes of release advice.
func releaseAdvice(code toolmark.Code) string {
	switch code {
	case toolmark.CodeVersionNotBumped:
		return "Raise serverInfo.version with every change of a definition, so that who approved the old ones sees a new release and not a silent change."
	case toolmark.CodeVersionDiffers:
		return "Take serverInfo.version from the same place as the package's version, at build time."
	case toolmark.CodeListChanged:
		return "Declare tools.listChanged where the list can change while a client is connected, send the notification then, and leave it out otherwise."
	case toolmark.CodeRepurposed:
		return "Add a new tool under a new name, and deprecate the old one; permissions were given to what the old name did."
	case toolmark.CodeRemovedUnannounced:
		return "Release a version first in which the tool's description says that it goes, and what to use in its place."
	case toolmark.CodeSessionsDiffer:
		return "Serve the same definitions to everybody; put what differs by user, locale or session into results, or into separate servers."
	case toolmark.CodeVolatile:
		return "Take the value out of the definition: let a tool return it, or accept it as a parameter."
	case toolmark.CodeFlagged:
		return "Say it in plain visible text. What only a machine needs belongs in _meta or in a result."
	case toolmark.CodeNoChangelog:
		return "Add what `toolmark changelog OLD NEW` prints to your changelog, with the reason for the change."
	case toolmark.CodeAwkwardName:
		return "Use 1 to 128 letters, digits, _, - and . for a name, and names that differ by more than case and separators."
	}
	return ""
}

// releaseMeaning is Explain for the codes of release advice.
func releaseMeaning(code toolmark.Code) string {
	switch code {
	case toolmark.CodeVersionNotBumped:
		return "Tools, prompts, resources or instructions are not those of the last release, and the server still gives the same version. To those who compare, that is what a tampered server looks like; and nobody can say which definitions a version had."
	case toolmark.CodeVersionDiffers:
		return "The version that the server gives of itself is not the one in server.json or package.json. Who reads the changelog of one and the definitions of the other compares two releases."
	case toolmark.CodeListChanged:
		return "A server that declares listChanged asks clients to read its list again while they are connected. Declared without need it makes every list provisional; not declared, a change in a session goes unseen or looks like an attack."
	case toolmark.CodeRepurposed:
		return "A tool kept its name while its schema or its meaning was replaced. Users allowed the name for what it did, prompts and other servers refer to it, and clients that pinned it stop. A change of what a tool is for is a new tool."
	case toolmark.CodeRemovedUnannounced:
		return "A tool of the last release is gone, and no release had called it deprecated. Whoever depends on it learns of it by a failure, and looks for a tool of that name elsewhere, where anybody can offer one."
	case toolmark.CodeSessionsDiffer:
		return "Several sessions were opened, with other headers, locales, environments or homes, and did not get the same definitions. Then no review holds for all users, pins fail by turns, and a server that shows reviewers one text and users another looks the same."
	case toolmark.CodeVolatile:
		return "A definition holds a date, a time, a user's name, a path, a UUID, a build id or a user's own objects. It differs from run to run or from user to user, so every comparison reports a change, until nobody reads them any more; and it may give away what is private."
	case toolmark.CodeFlagged:
		return "A definition holds invisible characters, an HTML comment, a base64 run, or text that scanners take for orders to the model. A reviewer does not see it in a diff, and users' scanners will refuse the server, whatever was meant."
	case toolmark.CodeNoChangelog:
		return "Definitions changed and no entry of the changelog quotes the new text. Who has to approve the change finds no word of the author about it, and cannot tell an edit from an intrusion."
	case toolmark.CodeAwkwardName:
		return "The name has other characters than MCP 2025-11-25 recommends, is too long, or becomes the same as another once a client has normalised it. Clients refuse such a tool, rename it, or call the wrong one."
	}
	return ""
}
